// MXFP4: 32 4-bit floats share a power of two.    weight[i] = 2^(exponent - 127) * fp4[code[i]]
// Byte i holds code i in its lower and code i + 16 in its upper four bits. Exponent 255, a NaN in
// the standard, is 2^128 here as in the peer: multiples from 1 on are infinite.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/fp4.h"
#include "quant/levels.h"
#include "quant/scale_search.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t exponent;
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 17);

void decode_block(const Block& block, float* weights) {
  const float scale = std::ldexp(1.0f, block.exponent - 128);
  for (size_t i = 0; i < 16; ++i) {
    weights[i] = float(kFp4Doubled[block.codes[i] & 15]) * scale;
    weights[i + 16] = float(kFp4Doubled[block.codes[i] >> 4]) * scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

constexpr TableLevels kLevels(kFp4Doubled);

// A block's largest weight lies in [2^k, 2^(k + 1)); the largest value, 6, in [2^2, 2^3). Exponents
// around k - 2 are tried, on weights divided by 2^k: their squares could leave the range of floats.
// Above 252, value 6 would be infinite.
Block encode_block(std::span<const float> x, std::span<const float> q) {
  const float largest = range_of(x, q).farthest();
  if (largest == 0) return {};
  const int k = std::ilogb(largest);
  std::array<float, 32> divided;
  std::ranges::transform(x, divided.begin(), [&](float value) { return std::ldexp(value, -k); });

  Block block{};
  float scale = 0;
  float least = 0;
  for (int exponent = k - 3; exponent <= k; ++exponent) {
    const int stored = std::clamp(exponent + 127, 0, 252);
    const float tried = std::ldexp(1.0f, stored - 128 - k);
    const float error = match_levels(kLevels, divided, q, tried).error;
    if (scale != 0 && !(error < least)) continue;
    block.exponent = uint8_t(stored);
    scale = tried;
    least = error;
  }
  for (size_t i = 0; i < 16; ++i) {
    block.codes[i] =
        uint8_t(kLevels.code(divided[i] / scale) | kLevels.code(divided[i + 16] / scale) << 4);
  }
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 32>(weights, importance, blocks, encode_block,
                               std::numeric_limits<float>::max());
}

}  // namespace

const Format mxfp4 = {.dtype = DType::MXFP4, .decode = decode, .encode = encode};

}  // namespace evener::quant
