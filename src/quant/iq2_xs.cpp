// IQ2_XS: 256 weights as 32 points of eight dimensions; two points share a 4-bit scale.
//     weight = sign * scale * (sub_scale + 1/2) / 4 * point[j]
// A point is a word: the index in bits 0..8, seven bits for the signs above. A byte of sub_scales
// belongs to four points, its lower four bits to the first two.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq2_grids.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint16_t points[32];
  uint8_t sub_scales[8];
};
static_assert(sizeof(Block) == 74);

void decode_block(const Block& block, float* weights) {
  for (size_t i = 0; i < 32; ++i) {
    const int sub_scale = block.sub_scales[i / 4] >> (i % 4 / 2 * 4) & 15;
    const float scale = f16_to_f32(block.scale) * (float(sub_scale) + 0.5f) * 0.25f;
    const unsigned signs = even_signs(block.points[i] >> 9);
    put_point(iq2_xs_grid[block.points[i] & 511], signs, scale, weights);
    weights += 8;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq2_xs = {.dtype = DType::IQ2_XS, .decode = decode};

}  // namespace evener::quant
