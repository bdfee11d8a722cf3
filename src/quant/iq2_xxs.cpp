// IQ2_XXS: 256 weights as 32 points of eight dimensions; four points share a 4-bit scale.
//     weight = sign * scale * (sub_scale + 1/2) / 4 * point[j]
// Four points are eight bytes: a byte each for the index, then a word of 32 bits with seven bits
// each for the signs, the first point's lowest, and the scale in the upper four.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq2_grids.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct SubBlock {
  uint8_t indices[4];
  uint16_t word[2];  // lower half first
};

struct Block {
  uint16_t scale;  // f16
  SubBlock subs[8];
};
static_assert(sizeof(Block) == 66);

void decode_block(const Block& block, float* weights) {
  for (const SubBlock& sub : block.subs) {
    const uint32_t word = sub.word[0] | uint32_t{sub.word[1]} << 16;
    const float scale = f16_to_f32(block.scale) * (float(word >> 28) + 0.5f) * 0.25f;
    for (size_t i = 0; i < 4; ++i) {
      const unsigned signs = even_signs(word >> (7 * i) & 127);
      put_point(iq2_xxs_grid[sub.indices[i]], signs, scale, weights);
      weights += 8;
    }
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq2_xxs = {.dtype = DType::IQ2_XXS, .decode = decode};

}  // namespace evener::quant
