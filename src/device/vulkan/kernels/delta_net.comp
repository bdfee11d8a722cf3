#version 460
// The recurrence, token by token. A thread has one channel of a value head and its column of the
// state, which stays with it from the first row of a slice to the last: columns know nothing of each
// other.
#include "common.glsl"
#include "batch.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kHeadDim = 128;
layout(constant_id = 2) const bool kIsTiled = false;

const uint kTokens = 8;  // whose queries and keys are fetched at a time

layout(push_constant, scalar) uniform Args {
  Floats qkv, y;
  Floats keys, gates;  // of delta_inputs.comp
  Floats states;       // of the layer in slot 0: [value heads][keys][values]
  Slices slices;
  uint qkv_stride, y_stride, slot_floats, key_heads, value_heads;
};

shared float fetched[kTokens * 2 * kHeadDim];

void main() {
  const Slice slice = slices.v[gl_WorkGroupID.z];
  const uint head = gl_WorkGroupID.y;
  const uint lane = gl_LocalInvocationID.x;
  const uint lanes = gl_WorkGroupSize.x;
  const uint channel = gl_GlobalInvocationID.x;
  const bool is_there = channel < kHeadDim;
  const uint key_head = kIsTiled ? head % key_heads : head / (value_heads / key_heads);
  Floats kept =
      floats_at(states, uint64_t(slice.slot) * slot_floats + head * kHeadDim * kHeadDim);
  precise float state[kHeadDim];
  for (uint i = 0; i < kHeadDim; ++i) state[i] = is_there ? kept.v[i * kHeadDim + channel] : 0.0;

  for (uint first = 0; first < slice.num_rows; first += kTokens) {
    const uint tokens = min(kTokens, slice.num_rows - first);
    barrier();
    for (uint i = lane; i < tokens * 2 * kHeadDim; i += lanes) {
      const uint row = slice.first_row + first + i / (2 * kHeadDim);
      fetched[i] = floats_at(keys, (uint64_t(row) * key_heads + key_head) * 2 * kHeadDim)
                       .v[i % (2 * kHeadDim)];
    }
    barrier();
    for (uint t = 0; t < tokens && is_there; ++t) {
      const uint row = slice.first_row + first + t;
      Floats gate = floats_at(gates, (uint64_t(row) * value_heads + head) * 2);
      const float decay = gate.v[0];
      const float beta = gate.v[1];
      const uint q = t * 2 * kHeadDim;
      const uint k = q + kHeadDim;
      precise float known = 0.0;
      for (uint i = 0; i < kHeadDim; ++i) {
        state[i] *= decay;
        known = fma(state[i], fetched[k + i], known);
      }
      const float value = floats_at(qkv, uint64_t(row) * qkv_stride).v[(2 * key_heads + head) * kHeadDim + channel];
      precise const float change = beta * (value - known);
      precise float read = 0.0;
      for (uint i = 0; i < kHeadDim; ++i) {
        state[i] = fma(fetched[k + i], change, state[i]);
        read = fma(state[i], fetched[q + i], read);
      }
      floats_at(y, uint64_t(row) * y_stride).v[head * kHeadDim + channel] = read;
    }
  }
  for (uint i = 0; i < kHeadDim && is_there; ++i) kept.v[i * kHeadDim + channel] = state[i];
}
