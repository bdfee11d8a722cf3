// Q1_0: 128 weights share a half as scale.    weight[i] = scale if bit i is set, else -scale
// Bit i % 8 of byte i / 8 belongs to weight i.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t bits[16];
};
static_assert(sizeof(Block) == 18);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  for (size_t i = 0; i < 128; ++i) {
    weights[i] = (block.bits[i / 8] >> (i % 8) & 1) != 0 ? scale : -scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 128>(blocks, weights, decode_block);
}

}  // namespace

const Format q1_0 = {.dtype = DType::Q1_0, .decode = decode};

}  // namespace evener::quant
