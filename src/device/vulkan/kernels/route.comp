#version 460
// The experts of one row: a workgroup.
#include "common.glsl"
#include "functions.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kExperts = 64;
layout(constant_id = 2) const bool kIsSigmoid = false;
layout(constant_id = 3) const bool kRenormalise = true;

layout(push_constant, scalar) uniform Args {
  Floats logits;
  Floats bias;     // 0: none
  Ints experts;    // [rows, chosen]
  Floats weights;  // [rows, chosen]
  Words uses;      // of the layer: [experts] of a low and a high word
  uint logits_stride, rows, chosen;
  float scale;
};

shared float scores[kExperts];
shared float ranks[kExperts];
shared float best_ranks[256];
shared uint best[256];

float reduce_sum(float value) {
  const uint lane = gl_LocalInvocationID.x;
  barrier();
  best_ranks[lane] = value;
  for (uint half_of = 128; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) best_ranks[lane] += best_ranks[lane + half_of];
  }
  barrier();
  return best_ranks[0];
}

float reduce_max(float value) {
  const uint lane = gl_LocalInvocationID.x;
  barrier();
  best_ranks[lane] = value;
  for (uint half_of = 128; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) best_ranks[lane] = max(best_ranks[lane], best_ranks[lane + half_of]);
  }
  barrier();
  return best_ranks[0];
}

void score(Floats from) {
  const uint lane = gl_LocalInvocationID.x;
  if (kIsSigmoid) {
    for (uint e = lane; e < kExperts; e += 256) scores[e] = sigmoid(from.v[e]);
    barrier();
    return;
  }
  float m = uintBitsToFloat(0xff800000u);
  for (uint e = lane; e < kExperts; e += 256) m = max(m, from.v[e]);
  m = reduce_max(m);
  precise float sum = 0.0;
  for (uint e = lane; e < kExperts; e += 256) {
    scores[e] = exp_of(from.v[e] - m);
    sum += scores[e];
  }
  sum = reduce_sum(sum);
  for (uint e = lane; e < kExperts; e += 256) scores[e] = divide(scores[e], sum);
  barrier();
}

// Of a rank that is no number nothing is larger or smaller: it counts as the lowest.
bool is_before(float rank_a, uint a, float rank_b, uint b) {
  if (b >= kExperts) return a < kExperts;
  if (a >= kExperts) return false;
  return rank_a > rank_b || (!(rank_b > rank_a) && a < b);
}

void main() {
  const uint row = row_of_group();
  if (row >= rows) return;
  const uint lane = gl_LocalInvocationID.x;
  score(floats_at(logits, uint64_t(row) * logits_stride));
  for (uint e = lane; e < kExperts; e += 256) {
    ranks[e] = uint64_t(bias) != 0 ? scores[e] + bias.v[e] : scores[e];
    if (isnan(ranks[e])) ranks[e] = uintBitsToFloat(0xff7fffffu);
  }
  Ints to = Ints(uint64_t(experts) + 4 * uint64_t(row) * chosen);
  Floats weigh = floats_at(weights, uint64_t(row) * chosen);
  precise float sum = 0.0;
  for (uint k = 0; k < chosen; ++k) {
    uint own = kExperts;
    float own_rank = 0.0;
    for (uint e = lane; e < kExperts; e += 256) {
      if (isinf(ranks[e]) && ranks[e] < 0.0) continue;  // chosen before
      if (is_before(ranks[e], e, own_rank, own)) {
        own = e;
        own_rank = ranks[e];
      }
    }
    barrier();
    best[lane] = own;
    best_ranks[lane] = own_rank;
    for (uint half_of = 128; half_of > 0; half_of /= 2) {
      barrier();
      if (lane < half_of && is_before(best_ranks[lane + half_of], best[lane + half_of],
                                      best_ranks[lane], best[lane])) {
        best[lane] = best[lane + half_of];
        best_ranks[lane] = best_ranks[lane + half_of];
      }
    }
    barrier();
    if (lane == 0) {
      const uint expert = min(best[0], kExperts - 1);
      ranks[expert] = uintBitsToFloat(0xff800000u);
      to.v[k] = int(expert);
      weigh.v[k] = scores[expert];
      sum += scores[expert];
      if (atomicAdd(uses.v[2 * expert], 1u) == 0xffffffffu) atomicAdd(uses.v[2 * expert + 1], 1u);
    }
    barrier();
  }
  if (lane != 0) return;
  const float divisor = kRenormalise ? max(sum, 6.103515625e-5) : 1.0;
  for (uint k = 0; k < chosen; ++k) weigh.v[k] = divide(weigh.v[k], divisor) * scale;
}
