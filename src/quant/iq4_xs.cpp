// IQ4_XS: 256 weights in eight sub-blocks of 32, each with a 6-bit scale.
//     weight[i] = scale * (sub_scale - 32) * level[code[i]]
// Of sub-block s, the scale's lower four bits are those of byte s / 2, the even one's lower; the
// upper two are bits 2 s and 2 s + 1 of a word. Codes lie in each sub-block as in IQ4_NL.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq4_levels.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint16_t sub_scales_high;
  uint8_t sub_scales_low[4];
  uint8_t codes[8][16];
};
static_assert(sizeof(Block) == 136);

int sub_scale(const Block& block, size_t sub) {
  const int low = block.sub_scales_low[sub / 2] >> (sub % 2 * 4) & 15;
  const int high = block.sub_scales_high >> (2 * sub) & 3;
  return (low | high << 4) - 32;
}

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 8; ++sub) {
    const float scale = f16_to_f32(block.scale) * float(sub_scale(block, sub));
    const uint8_t* const codes = block.codes[sub];
    for (size_t i = 0; i < 16; ++i) {
      weights[i] = scale * float(kIq4Levels[codes[i] & 15]);
      weights[i + 16] = scale * float(kIq4Levels[codes[i] >> 4]);
    }
    weights += 32;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq4_xs = {.dtype = DType::IQ4_XS, .decode = decode};

}  // namespace evener::quant
