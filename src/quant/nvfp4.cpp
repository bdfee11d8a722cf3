// NVFP4: 64 4-bit floats in four sub-blocks of 16, each with an 8-bit float as scale.
//     weight[i] = sub_scale * fp4[code[i]]
// Byte i of a sub-block's eight holds its code i in the lower and i + 8 in the upper four bits.
#include <cmath>
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/fp4.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t sub_scales[4];
  uint8_t codes[4][8];
};
static_assert(sizeof(Block) == 36);

// Half the value of a float with four exponent bits and three fraction bits (E4M3), whose sign is
// ignored. 0x7f, the NaN of E4M3, stands for 0; 0xff does not.
float half_scale(uint8_t bits) {
  if (bits == 0x7f) return 0;
  const int exponent = bits >> 3 & 15;
  const int fraction = bits & 7;
  return exponent == 0 ? std::ldexp(float(fraction), -10)
                       : std::ldexp(float(fraction + 8), exponent - 11);
}

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 4; ++sub) {
    const float scale = half_scale(block.sub_scales[sub]);
    for (size_t i = 0; i < 8; ++i) {
      weights[i] = float(kFp4Doubled[block.codes[sub][i] & 15]) * scale;
      weights[i + 8] = float(kFp4Doubled[block.codes[sub][i] >> 4]) * scale;
    }
    weights += 16;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 64>(blocks, weights, decode_block);
}

}  // namespace

const Format nvfp4 = {.dtype = DType::NVFP4, .decode = decode};

}  // namespace evener::quant
