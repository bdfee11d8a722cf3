#include "bench/machine/copy_pattern.h"

#include <bit>
#include <cstring>

namespace evener::bench {
namespace {

uint32_t word_at(size_t index, uint32_t seed) {
  const auto place = uint32_t(index) + uint32_t(uint64_t{index} >> 32) + seed * 0x85ebca6bU;
  return place * 0x9e3779b1U;  // odd: no two places of four billion are the same
}

}  // namespace

void fill_pattern(std::span<float> values, uint32_t seed) {
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t word = word_at(i, seed);
    std::memcpy(&values[i], &word, sizeof word);
  }
}

uint64_t count_wrong_bytes(std::span<const float> values, uint32_t seed) {
  uint64_t count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t wrong = std::bit_cast<uint32_t>(values[i]) ^ word_at(i, seed);
    for (; wrong != 0; wrong >>= 8) count += (wrong & 0xff) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace evener::bench
