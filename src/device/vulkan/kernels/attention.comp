#version 460
// Some neighbouring rows of a slice with some heads that share keys, over one span of absolute
// positions, tile by tile in rising order:
//     m = largest score so far, l = sum of e^(score - m), acc = sum of e^(score - m) v
// A row that ends within its first span is finished here; spans of the others are merged in rising
// order by attention_merge.comp. What a row gets does not depend on the rows and heads beside it.
#include "common.glsl"
#include "functions.glsl"
#include "kv.glsl"

layout(local_size_x_id = 0) in;  // a multiple of kTile
layout(constant_id = 1) const uint kType = 1;
layout(constant_id = 2) const uint kHeadDim = 128;
layout(constant_id = 3) const uint kHeads = 4;    // that share the keys, of one workgroup
layout(constant_id = 4) const uint kRowsMax = 4;  // of one workgroup
layout(constant_id = 5) const uint kPageSize = 64;
layout(constant_id = 6) const uint kQueries = 16;  // kHeads * kRowsMax
layout(constant_id = 7) const uint kChannels = 1;  // of a thread: kHeadDim over threads, rounded up
layout(constant_id = 8) const uint kScores = 4;    // of a thread: kQueries over its kind, rounded up

const uint kTile = 32;

// Rows of one workgroup; those of AttentionUnit in batch_data.h.
struct Unit {
  uint first_row, num_rows, position, pages;
};
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Units { Unit v[]; };

layout(push_constant, scalar) uniform Args {
  Floats q, y, partial;
  Words cache;  // of the layer
  Units units;
  Ints pages;
  uint q_stride, y_stride, num_heads, kv_heads, first_partial_row, num_spans, first_unit;
  float scale;
};

shared float queries[kQueries * kHeadDim];
shared float weights[kQueries * kTile];
shared float largest[kQueries];
shared float total[kQueries];
shared float faded[kQueries];
shared uint valid[kQueries];  // positions of the tile that a query sees

float key_part(Words row, uint c) {
  if (kType == kF32) return uintBitsToFloat(row.v[c]);
  if (kType == kF16) return half_value((row.v[c / 2] >> (16 * (c & 1u))) & 0xffffu);
  if (kType == kFp8) return fp8_value((row.v[c / 4] >> (8 * (c & 3u))) & 255u);
  const uint word = row.v[kHeadDim / 4 + c / 64];
  const float block_scale = half_value((word >> (16 * (c / 32 & 1u))) & 0xffffu);
  return block_scale * float(bitfieldExtract(int(row.v[c / 4]), int(8 * (c & 3u)), 8));
}

void main() {
  const Unit unit = units.v[first_unit + gl_WorkGroupID.y];
  const uint span = gl_WorkGroupID.z;
  const uint sharing = num_heads / kv_heads;
  const uint head_groups = (sharing + kHeads - 1) / kHeads;
  const uint kv_head = gl_WorkGroupID.x / head_groups;
  const uint first_in_group = gl_WorkGroupID.x % head_groups * kHeads;
  const uint first_head = kv_head * sharing + first_in_group;
  const uint heads = min(kHeads, sharing - first_in_group);
  const uint end = unit.position + unit.num_rows;  // of the last row's positions
  const uint lane = gl_LocalInvocationID.x;
  const uint lanes = gl_WorkGroupSize.x;
  if (span * kSpan >= end) return;

  // Query j is row j / kHeads with head j % kHeads.
  for (uint i = lane; i < kQueries * kHeadDim; i += lanes) {
    const uint j = i / kHeadDim;
    const bool is_there = j / kHeads < unit.num_rows && j % kHeads < heads;
    queries[i] = is_there ? floats_at(q, uint64_t(unit.first_row + j / kHeads) * q_stride +
                                             (first_head + j % kHeads) * kHeadDim).v[i % kHeadDim]
                          : 0.0;
  }
  if (lane < kQueries) {
    largest[lane] = uintBitsToFloat(0xff800000u);
    total[lane] = 0.0;
  }
  precise float acc[kChannels * kQueries];
  for (uint i = 0; i < kChannels * kQueries; ++i) acc[i] = 0.0;

  const uint row_words = kv_row_words(kType, kHeadDim);
  const uint64_t head_words = uint64_t(2) * kPageSize * row_words;
  const uint span_end = min(end, (span + 1) * kSpan);
  for (uint tile = span * kSpan; tile < span_end; tile += kTile) {
    barrier();
    if (lane < kQueries) {
      const uint row_end = unit.position + lane / kHeads + 1;
      valid[lane] = lane / kHeads >= unit.num_rows || row_end <= tile ? 0 : min(kTile, row_end - tile);
    }
    // Scores: a thread has one position and every lanes / kTile-th query.
    const uint t = lane % kTile;
    const uint position = tile + t;
    precise float scores[kScores];
    for (uint i = 0; i < kScores; ++i) scores[i] = 0.0;
    if (position < span_end) {
      const uint page = uint(pages.v[unit.pages + position / kPageSize]);
      Words row = words_at(cache, (uint64_t(page) * kv_heads + kv_head) * head_words +
                                            position % kPageSize * row_words);
      for (uint c = 0; c < kHeadDim; ++c) {
        const float part = key_part(row, c);
        for (uint i = 0; i < kScores; ++i) {
          const uint j = i * (lanes / kTile) + lane / kTile;
          if (j < kQueries) scores[i] = fma(queries[j * kHeadDim + c], part, scores[i]);
        }
      }
    }
    for (uint i = 0; i < kScores; ++i) {
      const uint j = i * (lanes / kTile) + lane / kTile;
      if (j < kQueries) weights[j * kTile + t] = scores[i] * scale;
    }
    barrier();
    if (lane < kQueries && valid[lane] > 0) {
      float m = largest[lane];
      for (uint i = 0; i < valid[lane]; ++i) m = max(m, weights[lane * kTile + i]);
      faded[lane] = largest[lane] == m ? 1.0 : exp_of(largest[lane] - m);
      largest[lane] = m;
    } else if (lane < kQueries) {
      faded[lane] = 1.0;
    }
    barrier();
    for (uint i = lane; i < kQueries * kTile; i += lanes) {
      const uint j = i / kTile;
      weights[i] = i % kTile < valid[j] ? exp_of(weights[i] - largest[j]) : 0.0;
    }
    barrier();
    if (lane < kQueries) {
      precise float sum = 0.0;
      for (uint i = 0; i < valid[lane]; ++i) sum += weights[lane * kTile + i];
      precise const float before = total[lane] * faded[lane];
      total[lane] = before + sum;
    }
    // Values: a thread has some channels of all queries.
    for (uint n = 0; n < kChannels; ++n) {
      for (uint j = 0; j < kQueries; ++j) acc[n * kQueries + j] *= faded[j];
    }
    const uint count = min(kTile, span_end - tile);
    for (uint i = 0; i < count; ++i) {
      const uint at = tile + i;
      const uint page = uint(pages.v[unit.pages + at / kPageSize]);
      Words row = words_at(cache, (uint64_t(page) * kv_heads + kv_head) * head_words +
                                            (kPageSize + at % kPageSize) * row_words);
      for (uint n = 0; n < kChannels; ++n) {
        const uint c = n * lanes + lane;
        if (c >= kHeadDim) break;
        const float part = key_part(row, c);
        for (uint j = 0; j < kQueries; ++j) {
          if (i < valid[j]) {
            acc[n * kQueries + j] = fma(weights[j * kTile + i], part, acc[n * kQueries + j]);
          }
        }
      }
    }
  }
  barrier();
  for (uint j = 0; j < kQueries; ++j) {
    const uint row = j / kHeads;
    const uint row_end = unit.position + row + 1;
    if (row >= unit.num_rows || j % kHeads >= heads || span * kSpan >= row_end) continue;
    const uint head = first_head + j % kHeads;
    const bool is_whole = row_end <= kSpan;
    const uint64_t place =
        ((uint64_t(unit.first_row + row - first_partial_row) * num_heads + head) * num_spans + span) *
        (kHeadDim + 2);
    for (uint n = 0; n < kChannels; ++n) {
      const uint c = n * lanes + lane;
      if (c >= kHeadDim) break;
      if (is_whole) {
        floats_at(y, uint64_t(unit.first_row + row) * y_stride + head * kHeadDim).v[c] =
            divide(acc[n * kQueries + j], total[j]);
      } else {
        floats_at(partial, place).v[c] = acc[n * kQueries + j];
      }
    }
    if (!is_whole && lane == 0) {
      floats_at(partial, place).v[kHeadDim] = largest[j];
      floats_at(partial, place).v[kHeadDim + 1] = total[j];
    }
  }
}
