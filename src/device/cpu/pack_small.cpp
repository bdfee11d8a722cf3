// Formats with a float scale for 64 inputs or fewer, and IQ4_XS, their relative.
#include "device/cpu/pack_formats.h"
#include "device/cpu/pack_lanes.h"

namespace evener::device::cpu {

void pack_q8_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint32_t>(block + 2, 8, {packed, 2, place});
}

void pack_q4_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  spread<uint32_t>(block + 2, 4, {packed, 2, place});
}

void pack_q4_1(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 2, {packed, 0, place});
  spread<uint32_t>(block + 4, 4, {packed, 4, place});
}

void pack_q5_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t>(packed, 2, place).set(0, by_input(read<uint32_t>(block + 2)));
  spread<uint32_t>(block + 6, 4, {packed, 6, place});
}

void pack_q5_1(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 2, {packed, 0, place});
  LaneArray<uint32_t>(packed, 4, place).set(0, by_input(read<uint32_t>(block + 4)));
  spread<uint32_t>(block + 8, 4, {packed, 8, place});
}

void pack_iq4_nl(const std::byte* block, LanePlace place, std::byte* packed) {
  pack_q4_0(block, place, packed);
}

void pack_iq4_xs(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  const auto high = read<uint16_t>(block + 2);
  LaneArray<uint16_t> sub_scales(packed, 2, place);  // two signed 8-bit values each
  for (size_t pair = 0; pair < 4; ++pair) {
    const auto low = read<uint8_t>(block + 4 + pair);
    const int first = (low & 15) + (high >> (4 * pair) & 3) * 16 - 32;
    const int second = (low >> 4) + (high >> (4 * pair + 2) & 3) * 16 - 32;
    sub_scales.set(pair, uint16_t((first & 255) | (second & 255) << 8));
  }
  spread<uint32_t>(block + 8, 32, {packed, 10, place});
}

void pack_mxfp4(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint8_t>(block, 1, {packed, 0, place});
  spread<uint32_t>(block + 1, 4, {packed, 1, place});
}

void pack_nvfp4(const std::byte* block, LanePlace place, std::byte* packed) {
  LaneArray<uint8_t> sub_scales(packed, 0, place);
  for (size_t sub = 0; sub < 4; ++sub) {
    const auto bits = read<uint8_t>(block + sub);
    sub_scales.set(sub, bits == 0x7f ? uint8_t{0} : uint8_t(bits & 0x7f));  // 0x7f stands for 0
  }
  spread<uint32_t>(block + 4, 8, {packed, 4, place});
}

}  // namespace evener::device::cpu
