#version 460
// One workgroup a row:  y = x * gain / sqrt(mean of x^2 + epsilon), times silu(gate) where there is
// one.
#include "common.glsl"
#include "functions.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool kIsGated = false;

layout(push_constant, scalar) uniform Args {
  Floats x, gain, gate, y;
  uint x_stride, gate_stride, y_stride, rows, cols;
  float epsilon;
};

shared float sums[256];

void main() {
  const uint row = row_of_group();
  if (row >= rows) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint lanes = gl_WorkGroupSize.x;
  Floats in_row = floats_at(x, uint64_t(row) * x_stride);
  Floats gate_row = floats_at(gate, uint64_t(row) * gate_stride);
  Floats out_row = floats_at(y, uint64_t(row) * y_stride);

  precise float squares = 0;
  for (uint c = lane; c < cols; c += lanes) {
    const float value = in_row.v[c];
    squares = fma(value, value, squares);
  }
  sums[lane] = squares;
  for (uint half_of = lanes / 2; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) sums[lane] += sums[lane + half_of];
  }
  barrier();
  precise const float mean = divide(sums[0], float(cols));
  precise const float factor = divide(1.0, root(mean + epsilon));
  for (uint c = lane; c < cols; c += lanes) {
    precise float value = in_row.v[c] * factor * gain.v[c];
    if (kIsGated) value *= silu(gate_row.v[c]);
    out_row.v[c] = value;
  }
}
