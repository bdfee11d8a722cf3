// Q6_K: 256 weights in sixteen sub-blocks of 16, each with an 8-bit scale.
//     weight[i] = scale * sub_scale * (code[i] - 32)
// Each half of 128 weights is four quarters of 32: of codes i, i + 32, i + 64, i + 96 the lower
// four bits lie in low[i] lower, low[i + 32] lower, low[i] upper, low[i + 32] upper, and the upper
// two bits in high[i], rising.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t low[2][64];
  uint8_t high[2][32];
  int8_t sub_scales[16];
  uint16_t scale;  // f16
};
static_assert(sizeof(Block) == 210);

int code(const Block& block, size_t half, size_t i) {
  const size_t quarter = i / 32;
  const int low = block.low[half][i % 64] >> (quarter < 2 ? 0 : 4) & 15;
  const int high = block.high[half][i % 32] >> (2 * quarter) & 3;
  return (low | high << 4) - 32;
}

void decode_block(const Block& block, float* weights) {
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = 0; i < 128; ++i) {
      const float sub_scale = block.sub_scales[half * 8 + i / 16];
      *weights++ = f16_to_f32(block.scale) * sub_scale * float(code(block, half, i));
    }
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format q6_k = {.dtype = DType::Q6_K, .decode = decode};

}  // namespace evener::quant
