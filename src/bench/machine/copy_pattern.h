#pragma once

#include <cstdint>
#include <span>

namespace evener::bench {

// Bits that differ from word to word and from seed to seed; as floats they may be anything, for
// copies do not look.
void fill_pattern(std::span<float> values, uint32_t seed);

// Bytes that are not those of the pattern.
uint64_t count_wrong_bytes(std::span<const float> values, uint32_t seed);

}  // namespace evener::bench
