#include "device/cpu/pack_formats.h"
#include "device/cpu/pack_lanes.h"

namespace evener::device::cpu {
namespace {

// Eight signs a point, of eight times 32 weights.
void spread_signs(const std::byte* from, LaneArray<uint32_t> to) {
  for (size_t sub = 0; sub < 8; ++sub) to.set(sub, signs_by_input(read<uint32_t>(from + 4 * sub)));
}

// Of a file's word with seven signs for each of four points and a sub-scale above: the eighth
// signs, which make the number of negative weights even, are not needed to place the others.
uint32_t even_word(uint32_t word) {
  uint32_t signs = 0;
  for (size_t point = 0; point < 4; ++point) signs |= (word >> (7 * point) & 127u) << (8 * point);
  return signs_by_input(signs) | (word & 0xf0000000u);
}

}  // namespace

void pack_iq3_s(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint8_t>(block + 106, 4, {packed, 2, place});
  spread_signs(block + 74, {packed, 6, place});
  LaneIndices<9, 64> indices(packed, 38, place);
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t ninth = read<uint8_t>(block + 66 + i / 8) >> (i % 8) & 1u;
    indices.set(i, read<uint8_t>(block + 2 + i) | ninth << 8);
  }
}

void pack_iq3_xxs(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t> words(packed, 2, place);
  for (size_t sub = 0; sub < 8; ++sub)
    words.set(sub, even_word(read<uint32_t>(block + 66 + 4 * sub)));
  spread<uint8_t>(block + 2, 64, {packed, 34, place});
}

void pack_iq2_xxs(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t> words(packed, 2, place);
  LaneArray<uint8_t> indices(packed, 34, place);
  for (size_t sub = 0; sub < 8; ++sub) {
    const std::byte* const at = block + 2 + 8 * sub;
    for (size_t i = 0; i < 4; ++i) indices.set(4 * sub + i, read<uint8_t>(at + i));
    words.set(sub, even_word(read<uint32_t>(at + 4)));
  }
}

void pack_iq2_xs(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t> words(packed, 2, place);
  LaneArray<uint8_t> second_scales(packed, 34, place);
  LaneIndices<9, 32> indices(packed, 38, place);
  uint32_t second[8];
  for (size_t pair = 0; pair < 8; ++pair) {
    const auto scales = read<uint8_t>(block + 66 + pair);
    second[pair] = scales >> 4;
    uint32_t word = (scales & 15u) << 28;
    for (size_t i = 0; i < 4; ++i) {
      const auto point = read<uint16_t>(block + 2 + 2 * (4 * pair + i));
      indices.set(4 * pair + i, point & 511u);
      word |= uint32_t{point} >> 9 << (7 * i);
    }
    words.set(pair, even_word(word));
  }
  for (size_t i = 0; i < 4; ++i) {
    second_scales.set(i, uint8_t(second[2 * i] | second[2 * i + 1] << 4));
  }
}

void pack_iq2_s(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint8_t>(block + 74, 8, {packed, 2, place});
  spread_signs(block + 34, {packed, 10, place});
  LaneIndices<10, 32> indices(packed, 42, place);
  for (size_t i = 0; i < 32; ++i) {
    const uint32_t upper = read<uint8_t>(block + 66 + i / 4) >> (i % 4 * 2) & 3u;
    indices.set(i, read<uint8_t>(block + 2 + i) | upper << 8);
  }
}

void pack_iq1_s(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint8_t> sub_scales(packed, 2, place);
  LaneIndices<11, 32> indices(packed, 6, place);
  for (size_t pair = 0; pair < 4; ++pair) {
    const auto first = read<uint16_t>(block + 34 + 4 * pair);
    const auto second = read<uint16_t>(block + 36 + 4 * pair);
    sub_scales.set(pair, uint8_t(first >> 12 | second >> 12 << 4));
  }
  for (size_t i = 0; i < 32; ++i) {
    const uint32_t upper = read<uint16_t>(block + 34 + i / 4 * 2) >> (i % 4 * 3) & 7u;
    indices.set(i, read<uint8_t>(block + 2 + i) | upper << 8);
  }
}

void pack_iq1_m(const std::byte* block, LanePlace place, std::byte* packed) {
  uint32_t scale = 0;
  LaneArray<uint16_t> sub_scales(packed, 2, place);
  LaneArray<uint8_t> shifts(packed, 10, place);
  LaneIndices<11, 32> indices(packed, 14, place);
  for (size_t quarter = 0; quarter < 4; ++quarter) {
    const auto word = read<uint16_t>(block + 48 + 2 * quarter);
    scale |= uint32_t{word} >> 12 << (4 * quarter);
    sub_scales.set(quarter, uint16_t(word & 0xfffu));
    uint32_t negative = 0;
    for (size_t i = 0; i < 8; ++i) {
      const size_t point = 8 * quarter + i;
      const uint32_t high = read<uint8_t>(block + 32 + point / 2) >> (point % 2 * 4) & 15u;
      indices.set(point, read<uint8_t>(block + point) | (high & 7u) << 8);
      negative |= high >> 3 << i;
    }
    shifts.set(quarter, uint8_t(negative));
  }
  LaneArray<uint16_t>(packed, 0, place).set(0, uint16_t(scale));
}

}  // namespace evener::device::cpu
