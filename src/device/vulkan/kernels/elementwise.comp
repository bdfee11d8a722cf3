#version 460
// y from one or two inputs, value by value.
#include "common.glsl"
#include "functions.glsl"

layout(local_size_x_id = 0) in;

// Those of Elementwise in card_device.h.
const uint kSiluMul = 0;      // silu(a) * b
const uint kSigmoidMul = 1;   // a * sigmoid(b)
const uint kSigmoidRows = 2;  // a * sigmoid(b[row])
const uint kAdd = 3;          // b + a
const uint kGather = 4;       // row list[r] of a
const uint kCopy = 5;         // a
layout(constant_id = 1) const uint kOperation = 0;

layout(push_constant, scalar) uniform Args {
  Floats a, b, y;
  Ints list;
  uint a_stride, b_stride, y_stride, rows, cols;
};

void main() {
  const uint row = row_of_group();
  const uint col = gl_GlobalInvocationID.x;
  if (row >= rows || col >= cols) return;
  const uint from = kOperation == kGather ? uint(list.v[row]) : row;
  precise float value = floats_at(a, uint64_t(from) * a_stride).v[col];
  if (kOperation < kGather) {
    const float other = floats_at(b, uint64_t(row) * b_stride).v[kOperation == kSigmoidRows ? 0 : col];
    if (kOperation == kSiluMul) value = silu(value) * other;
    if (kOperation == kSigmoidMul || kOperation == kSigmoidRows) value *= sigmoid(other);
    if (kOperation == kAdd) value = other + value;
  }
  floats_at(y, uint64_t(row) * y_stride).v[col] = value;
}
