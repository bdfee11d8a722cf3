#include "device/cpu/pack_formats.h"
#include "device/cpu/pack_lanes.h"
#include "quant/k_scales.h"
#include "tensor/float16.h"

namespace evener::device::cpu {
namespace {

// Of sub-block `sub` of Q3_K, from the 12 bytes of the file.
int q3_k_sub_scale(const std::byte* bytes, size_t sub) {
  const int low = read<uint8_t>(bytes + sub % 8) >> (sub < 8 ? 0 : 4) & 15;
  const int high = read<uint8_t>(bytes + 8 + sub % 4) >> (sub / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

// Scales and minima of Q4_K and Q5_K, which are the first 16 bytes of a block.
void pack_k_scales(const std::byte* block, LanePlace place, std::byte* packed) {
  uint8_t sub_scales[12];
  std::memcpy(sub_scales, block + 4, sizeof sub_scales);
  LaneArray<uint16_t>(packed, 0, place).set(0, read<uint16_t>(block));
  const auto negated_min = uint16_t(read<uint16_t>(block + 2) ^ 0x8000u);
  LaneArray<uint16_t>(packed, 2, place).set(0, negated_min);
  LaneArray<uint16_t> scales(packed, 4, place);  // two 8-bit values each
  LaneArray<uint16_t> mins(packed, 12, place);
  for (size_t pair = 0; pair < 4; ++pair) {
    const auto first = quant::k_scale_and_min(sub_scales, 2 * pair);
    const auto second = quant::k_scale_and_min(sub_scales, 2 * pair + 1);
    scales.set(pair, uint16_t(first.scale | second.scale << 8));
    mins.set(pair, uint16_t(first.min | second.min << 8));
  }
}

}  // namespace

void pack_q2_k(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block + 80, 1, {packed, 0, place});
  const auto negated_min = uint16_t(read<uint16_t>(block + 82) ^ 0x8000u);
  LaneArray<uint16_t>(packed, 2, place).set(0, negated_min);
  spread<uint16_t>(block, 8, {packed, 4, place});
  spread<uint32_t>(block + 16, 16, {packed, 20, place});
}

void pack_q3_k(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block + 108, 1, {packed, 0, place});
  LaneArray<uint16_t> sub_scales(packed, 2, place);  // two signed 8-bit values each
  for (size_t pair = 0; pair < 8; ++pair) {
    const int first = q3_k_sub_scale(block + 96, 2 * pair);
    const int second = q3_k_sub_scale(block + 96, 2 * pair + 1);
    sub_scales.set(pair, uint16_t((first & 255) | (second & 255) << 8));
  }
  spread<uint32_t>(block + 32, 16, {packed, 18, place});
  LaneArray<uint32_t> third_bits(packed, 82, place);
  for (size_t step = 0; step < 4; ++step) {
    const auto first = read<uint32_t>(block + 4 * step);
    const auto second = read<uint32_t>(block + 4 * (step + 4));
    third_bits.set(step, (first & 0x0f0f0f0fu) | (second & 0x0f0f0f0fu) << 4);
    third_bits.set(4 + step, (first >> 4 & 0x0f0f0f0fu) | (second & 0xf0f0f0f0u));
  }
}

void pack_q4_k(const std::byte* block, LanePlace place, std::byte* packed) {
  pack_k_scales(block, place, packed);
  spread<uint32_t>(block + 16, 32, {packed, 20, place});
}

void pack_q5_k(const std::byte* block, LanePlace place, std::byte* packed) {
  pack_k_scales(block, place, packed);
  spread<uint32_t>(block + 48, 32, {packed, 20, place});
  spread<uint32_t>(block + 16, 8, {packed, 148, place});
}

void pack_q6_k(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint32_t>(block, 32, {packed, 0, place});
  spread<uint32_t>(block + 128, 16, {packed, 128, place});
  spread<uint16_t>(block + 192, 8, {packed, 192, place});
  LaneArray<float>(packed, 208, place).set(0, f16_to_f32(read<uint16_t>(block + 208)));
}

}  // namespace evener::device::cpu
