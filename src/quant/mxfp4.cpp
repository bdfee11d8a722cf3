// MXFP4: 32 4-bit floats share a power of two.    weight[i] = 2^(exponent - 127) * fp4[code[i]]
// Byte i holds code i in its lower and code i + 16 in its upper four bits. Exponent 255, a NaN in
// the standard, is 2^128 here as in the peer: multiples from 1 on are infinite.
#include <cmath>
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/fp4.h"

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

}  // namespace

const Format mxfp4 = {.dtype = DType::MXFP4, .decode = decode};

}  // namespace evener::quant
