// IQ2_S: 256 weights as 32 points of eight dimensions; two points share a 4-bit scale.
//     weight = sign * scale * (sub_scale + 1/2) / 4 * point[j]
// A point has the lower eight bits of its index in `low`, the upper two in `high`, where a byte has
// those of four points, the first lowest, and a byte of signs, bit j for coordinate j. A byte of
// sub_scales belongs to four points, its lower four bits to the first two.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq2_grids.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t low[32];
  uint8_t signs[32];
  uint8_t high[8];
  uint8_t sub_scales[8];
};
static_assert(sizeof(Block) == 82);

void decode_block(const Block& block, float* weights) {
  for (size_t i = 0; i < 32; ++i) {
    const int sub_scale = block.sub_scales[i / 4] >> (i % 4 / 2 * 4) & 15;
    const float scale = f16_to_f32(block.scale) * (float(sub_scale) + 0.5f) * 0.25f;
    const unsigned index = block.low[i] | (block.high[i / 4] >> (i % 4 * 2) & 3u) << 8;
    put_point(iq2_s_grid[index], block.signs[i], scale, weights);
    weights += 8;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq2_s = {.dtype = DType::IQ2_S, .decode = decode};

}  // namespace evener::quant
