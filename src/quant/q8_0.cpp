// Q8_0: 32 weights share a half as scale.    weight[i] = scale * code[i]
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  int8_t code[32];
};
static_assert(sizeof(Block) == 34);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  for (size_t i = 0; i < 32; ++i) weights[i] = float(block.code[i]) * scale;
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

}  // namespace

const Format q8_0 = {.dtype = DType::Q8_0, .decode = decode};

}  // namespace evener::quant
