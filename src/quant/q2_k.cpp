// Q2_K: 256 weights in sixteen sub-blocks of 16, each with a 4-bit scale and a 4-bit minimum.
//     weight[i] = scale * sub_scale * code[i] - min * sub_min
// A byte of sub_scales has a sub-block's scale in its lower and the minimum in its upper four bits.
// Bytes 32 h .. 32 h + 31 hold half h of the weights: codes i, i + 32, i + 64, i + 96 of a half are
// two bits each of its byte i, rising.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t sub_scales[16];
  uint8_t codes[2][32];
  uint16_t scale;  // f16
  uint16_t min;    // f16
};
static_assert(sizeof(Block) == 84);

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 16; ++sub) {
    const float scale = f16_to_f32(block.scale) * float(block.sub_scales[sub] & 15);
    const float min = f16_to_f32(block.min) * float(block.sub_scales[sub] >> 4);
    const uint8_t* const codes = block.codes[sub / 8] + sub % 2 * 16;
    const size_t shift = sub % 8 / 2 * 2;
    for (size_t i = 0; i < 16; ++i) *weights++ = scale * float(codes[i] >> shift & 3) - min;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format q2_k = {.dtype = DType::Q2_K, .decode = decode};

}  // namespace evener::quant
