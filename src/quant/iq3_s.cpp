// IQ3_S: 256 weights as 64 points of four dimensions; eight points share a 4-bit scale.
//     weight = sign * scale * (2 sub_scale + 1) * point[j]
// A point has the lower eight bits of its index in `low` and the ninth in bit i % 8 of byte i / 8
// of `high`. A byte of signs has four bits each for two points, and one of sub_scales for two
// sub-blocks of eight points, the first one's lower.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq3_grids.h"
#include "quant/iq3_points.h"
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

void put_points(Block& block, size_t sub, const Points& points, unsigned sub_scale) {
  for (size_t i = 0; i < 8; ++i) {
    block.low[sub * 8 + i] = uint8_t(points.indices[i]);
    block.high[sub] |= uint8_t(points.indices[i] >> 8 << i);
  }
  for (size_t i = 0; i < 4; ++i) block.signs[sub * 4 + i] = points.signs[i];
  block.sub_scales[sub / 2] |= uint8_t(sub_scale << (sub % 2 * 4));
}

constexpr Iq3Kind kKind = {.signs = Signs::any, .farthest = 15, .unit = 1};

Block encode_block(std::span<const float> x, std::span<const float> q) {
  static const PointSearch search(iq3_s_grid.points);
  const Iq3Fit fit = fit_iq3(search, kKind, x, q);
  Block block{};
  block.scale = fit.scale;
  for (size_t sub = 0; sub < 8; ++sub) put_points(block, sub, fit.points[sub], fit.sub_scales[sub]);
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 256>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format iq3_s = {.dtype = DType::IQ3_S, .decode = decode, .encode = encode};

}  // namespace evener::quant
