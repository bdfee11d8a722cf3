// IQ3_S: 256 weights as 64 points of four dimensions; eight points share a 4-bit scale.
//     weight = sign * scale * (2 sub_scale + 1) * point[j]
// A point has the lower eight bits of its index in `low` and the ninth in bit i % 8 of byte i / 8
// of `high`. A byte of signs has four bits each for two points, and one of sub_scales for two
// sub-blocks of eight points, the first one's lower.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq3_grids.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t low[64];
  uint8_t high[8];
  uint8_t signs[32];
  uint8_t sub_scales[4];
};
static_assert(sizeof(Block) == 110);

void decode_block(const Block& block, float* weights) {
  for (size_t i = 0; i < 64; ++i) {
    const int sub_scale = block.sub_scales[i / 16] >> (i % 16 / 8 * 4) & 15;
    const float scale = f16_to_f32(block.scale) * float(2 * sub_scale + 1);
    const unsigned index = block.low[i] | (block.high[i / 8] >> (i % 8) & 1u) << 8;
    put_point(iq3_s_grid[index], block.signs[i / 2] >> (i % 2 * 4), scale, weights);
    weights += 4;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq3_s = {.dtype = DType::IQ3_S, .decode = decode};

}  // namespace evener::quant
