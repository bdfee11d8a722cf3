#version 460
// Turns pairs of channels of each head in place. One thread a pair.
#include "common.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool kAreHalves = true;  // (k, k + n), else (2k, 2k + 1)

layout(push_constant, scalar) uniform Args {
  Floats x, angles;  // angles: n cosines, then n sines
  uint x_stride, angles_stride, num_heads, heads_a_row, pairs;
};

void main() {
  const uint head = row_of_group();
  const uint pair = gl_GlobalInvocationID.x;
  if (head >= num_heads || pair >= pairs) return;
  Floats turned = floats_at(x, uint64_t(head) * x_stride);
  Floats angle = floats_at(angles, uint64_t(head / heads_a_row) * angles_stride);
  const uint first = kAreHalves ? pair : 2 * pair;
  const uint second = kAreHalves ? pair + pairs : 2 * pair + 1;
  const float a = turned.v[first];
  const float b = turned.v[second];
  const float cosine = angle.v[pair];
  const float sine = angle.v[pairs + pair];
  precise const float p = a * cosine - b * sine;
  precise const float q = b * cosine + a * sine;
  turned.v[first] = p;
  turned.v[second] = q;
}
