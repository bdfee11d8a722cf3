// Q5_1: 32 weights share scale and minimum.    weight[i] = scale * code[i] + min
// Byte i holds the lower four bits of codes i and i + 16; bit i of four bytes is code i's fifth.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint16_t min;    // f16
  uint8_t fifth_bits[4];
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 24);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  const float min = f16_to_f32(block.min);
  const auto fifth = [&](size_t i) { return (block.fifth_bits[i / 8] >> (i % 8) & 1) << 4; };
  for (size_t i = 0; i < 16; ++i) {
    weights[i] = float((block.codes[i] & 15) | fifth(i)) * scale + min;
    weights[i + 16] = float((block.codes[i] >> 4) | fifth(i + 16)) * scale + min;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

}  // namespace

const Format q5_1 = {.dtype = DType::Q5_1, .decode = decode};

}  // namespace evener::quant
