#include "device/cpu/pack_formats.h"
#include "device/cpu/pack_lanes.h"

namespace evener::device::cpu {
namespace {

// Weight i of a TQ1_0 block is digit i / 32 of byte i, or of the bytes behind as quant/tq1_0.cpp
// says; a byte is a fraction, and multiplying with 3 takes its first digit off.
uint32_t tq1_0_code(const std::byte* block, size_t i) {
  const size_t byte = i < 160 ? i % 32 : i < 240 ? 32 + (i - 160) % 16 : 48 + (i - 240) % 4;
  const size_t digit = i < 160 ? i / 32 : i < 240 ? (i - 160) / 16 : (i - 240) / 4;
  uint32_t rest = read<uint8_t>(block + byte);
  for (size_t k = 0; k < digit; ++k) rest = rest * 3 & 255u;
  return rest * 3 >> 8;
}

}  // namespace

// As TQ2_0.
void pack_tq1_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block + 52, 1, {packed, 0, place});
  LaneArray<uint32_t> codes(packed, 2, place);
  for (size_t half = 0; half < 2; ++half) {
    for (size_t step = 0; step < 8; ++step) {
      uint32_t four = 0;
      for (size_t quarter = 0; quarter < 4; ++quarter) {
        for (size_t j = 0; j < 4; ++j) {
          const uint32_t code = tq1_0_code(block, 128 * half + 32 * quarter + 4 * step + j);
          four |= code << (8 * j + 2 * quarter);
        }
      }
      codes.set(8 * half + step, four);
    }
  }
}

void pack_tq2_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block + 64, 1, {packed, 0, place});
  spread<uint32_t>(block, 16, {packed, 2, place});
}

// The file's byte i has the four inputs of step i; packed, a byte has one input of four steps.
void pack_q2_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t> codes(packed, 2, place);
  for (size_t four = 0; four < 4; ++four) {
    const auto steps = read<uint32_t>(block + 2 + 4 * four);
    uint32_t inputs = 0;
    for (size_t step = 0; step < 4; ++step) {
      for (size_t i = 0; i < 4; ++i) {
        inputs |= (steps >> (8 * step + 2 * i) & 3u) << (8 * i + 2 * step);
      }
    }
    codes.set(four, inputs);
  }
}

void pack_q1_0(const std::byte* block, LanePlace place, std::byte* packed) {
  spread<uint16_t>(block, 1, {packed, 0, place});
  LaneArray<uint32_t> bits(packed, 2, place);
  for (size_t panel = 0; panel < 4; ++panel) {
    bits.set(panel, by_input(read<uint32_t>(block + 2 + 4 * panel)));
  }
}

}  // namespace evener::device::cpu
