// Q2_0: 64 weights share a half as scale.    weight[i] = scale * (code[i] - 1)
// Code i is two bits of byte i / 4, the first code lowest.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 18);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  for (size_t i = 0; i < 64; ++i) {
    weights[i] = float((block.codes[i / 4] >> (2 * (i % 4)) & 3) - 1) * scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 64>(blocks, weights, decode_block);
}

}  // namespace

const Format q2_0 = {.dtype = DType::Q2_0, .decode = decode};

}  // namespace evener::quant
