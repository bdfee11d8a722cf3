#version 460
// One thread: 64 channels of a head's key or value of one row.
#include "common.glsl"
#include "functions.glsl"
#include "batch.glsl"
#include "kv.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint kType = 1;

layout(push_constant, scalar) uniform Args {
  Floats k, v;
  Words cache;  // of the layer
  RowPlaces places;
  Ints pages;
  uint k_stride, v_stride, rows, kv_heads, head_dim, page_size;
};

// A block of 32 as codes and a scale. One number that is none makes all of them so.
void store_q8_0(Floats from, Words to, uint block) {
  float largest = 0;
  bool is_number = true;
  for (uint i = 0; i < 32; ++i) {
    const float value = from.v[block * 32 + i];
    largest = max(largest, abs(value));
    is_number = is_number && !isnan(value) && !isinf(value);
  }
  const uint scale = is_number ? half_bits(divide(largest, 127.0)) : 0x7e00u;
  const float step = half_value(scale);
  const float per_step = step > 0.0 ? divide(1.0, step) : 0.0;
  for (uint w = 0; w < 8; ++w) {
    uint word = 0;
    for (uint i = 0; i < 4; ++i) {
      precise const float scaled = from.v[block * 32 + w * 4 + i] * per_step;
      const int code = is_number ? int(clamp(roundEven(scaled), -127.0, 127.0)) : 127;
      word |= (uint(code) & 255u) << (8 * i);
    }
    to.v[block * 8 + w] = word;
  }
  const uint place = head_dim / 4 + block / 2;
  to.v[place] = (block & 1u) == 0u ? scale : to.v[place] | scale << 16;
}

void main() {
  const uint row = row_of_group();
  const uint parts = (head_dim + 63) / 64;
  const uint unit = gl_GlobalInvocationID.x;
  if (row >= rows || unit >= 2 * kv_heads * parts) return;
  const uint part = unit % parts;
  const uint head = unit / parts % kv_heads;
  const bool is_value = unit / parts / kv_heads != 0;

  const RowPlace place = places.v[row];
  const uint page = uint(pages.v[place.pages + place.position / page_size]);
  const uint row_words = kv_row_words(kType, head_dim);
  const uint line = place.position % page_size + (is_value ? page_size : 0);
  Words to = words_at(
      cache, (uint64_t(page) * kv_heads + head) * 2 * page_size * row_words + line * row_words);
  Floats all = is_value ? floats_at(v, uint64_t(row) * v_stride)
                              : floats_at(k, uint64_t(row) * k_stride);
  Floats from = floats_at(all, head * head_dim);
  const uint end = min(head_dim, part * 64 + 64);
  if (kType == kQ8_0) {
    for (uint block = part * 2; block * 32 < end; ++block) store_q8_0(from, to, block);
    return;
  }
  for (uint c = part * 64; c < end; c += 4) {
    float x[4];
    for (uint i = 0; i < 4; ++i) x[i] = c + i < end ? from.v[c + i] : 0.0;
    if (kType == kF32) {
      for (uint i = 0; i < 4 && c + i < end; ++i) to.v[c + i] = floatBitsToUint(x[i]);
    } else if (kType == kF16) {
      to.v[c / 2] = half_bits(x[0]) | half_bits(x[1]) << 16;
      if (c + 2 < end) to.v[c / 2 + 1] = half_bits(x[2]) | half_bits(x[3]) << 16;
    } else {
      to.v[c / 4] = fp8_bits(x[0]) | fp8_bits(x[1]) << 8 | fp8_bits(x[2]) << 16 | fp8_bits(x[3]) << 24;
    }
  }
}
