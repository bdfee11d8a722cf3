#version 460
// Activations as codes of 8 bits, blocks of kBlock sharing a scale, in units of 32. One workgroup
// of 256 threads has 256 columns of a row. As the peer rounds them: 32 with the nearest half as
// scale, 256 with the largest of them at -127.
#include "common.glsl"
#include "functions.glsl"
#define FORMAT_Q8_0
#include "weights.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 1) const uint kSharing = 32;  // or 256

layout(push_constant, scalar) uniform Args {
  Floats x;
  Activations y;
  uint x_stride, rows, cols;
};

shared float sizes[256];
shared uint places[256];
shared float values[256];
shared int codes[256];

void main() {
  const uint row = row_of_group();
  if (row >= rows) return;
  const uint lane = gl_LocalInvocationID.x;
  const uint col = gl_WorkGroupID.x * 256 + lane;
  const float value = col < cols ? floats_at(x, uint64_t(row) * x_stride).v[col] : 0.0;
  values[lane] = value;
  sizes[lane] = abs(value);
  places[lane] = lane;
  // The first of the largest.
  for (uint half_of = kSharing / 2; half_of > 0; half_of /= 2) {
    barrier();
    const bool takes_part = lane % kSharing < half_of;
    if (takes_part) {
      const float other = sizes[lane + half_of];
      const bool is_better = other > sizes[lane] ||
                             (other == sizes[lane] && places[lane + half_of] < places[lane]);
      if (is_better) {
        sizes[lane] = other;
        places[lane] = places[lane + half_of];
      }
    }
  }
  barrier();
  const uint head = lane / kSharing * kSharing;
  const float largest = sizes[head];
  const float signed_largest = values[places[head]];
  float factor = 0.0;
  float scale = 0.0;
  float exact_scale = 0.0;
  if (largest > 0.0) {
    factor = kSharing == 32 ? divide(127.0, largest) : divide(-127.0, signed_largest);
    exact_scale = kSharing == 32 ? divide(largest, 127.0) : divide(1.0, factor);
    scale = kSharing == 32 ? half_value(half_bits(exact_scale)) : exact_scale;
  }
  precise const float scaled = value * factor;
  codes[lane] = int(clamp(roundEven(scaled), -127.0, 127.0));
  // A number that is none, in a block whose codes cannot say so, is said by the scale.
  if (isnan(value) || isinf(value)) codes[lane] = 128;
  barrier();
  if (lane % 32 != 0 || col >= cols) return;
  ActivationUnit unit;
  int sums[2] = {0, 0};
  bool is_number = true;
  for (uint w = 0; w < 8; ++w) {
    unit.codes[w] = 0;
    for (uint i = 0; i < 4; ++i) {
      const int code = codes[lane + w * 4 + i];
      is_number = is_number && code != 128;
      sums[w / 4] += code;
      unit.codes[w] |= (uint(code) & 255u) << (8 * i);
    }
  }
  unit.scale = is_number ? scale : uintBitsToFloat(0x7fc00000u);
  unit.sums = uint(sums[0]) & 0xffffu | uint(sums[1]) << 16;
  precise const float sum = exact_scale * float(sums[0] + sums[1]);
  unit.half_sum = half_value(half_bits(sum));
  unit.unused = 0;
  const uint units = (cols + 31) / 32;
  y.v[row * units + col / 32] = unit;
}
