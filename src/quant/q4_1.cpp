// Q4_1: 32 weights share scale and minimum.    weight[i] = scale * code[i] + min
// Byte i holds code i in its lower and code i + 16 in its upper four bits.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint16_t min;    // f16
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 20);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  const float min = f16_to_f32(block.min);
  for (size_t i = 0; i < 16; ++i) {
    weights[i] = float(block.codes[i] & 15) * scale + min;
    weights[i + 16] = float(block.codes[i] >> 4) * scale + min;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

}  // namespace

const Format q4_1 = {.dtype = DType::Q4_1, .decode = decode};

}  // namespace evener::quant
