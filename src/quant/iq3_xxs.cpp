// IQ3_XXS: 256 weights as 64 points of four dimensions; eight points share a 4-bit scale.
//     weight = sign * scale * (sub_scale + 1/2) / 2 * point[j]
// A byte is a point's index. The word of eight points has seven bits each for the signs of two
// neighbours, the first pair's lowest, and the scale in the upper four.
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
  uint8_t indices[8][8];
  uint16_t words[8][2];  // lower half first
};
static_assert(sizeof(Block) == 98);

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 8; ++sub) {
    const uint32_t word = block.words[sub][0] | uint32_t{block.words[sub][1]} << 16;
    const float scale = f16_to_f32(block.scale) * (float(word >> 28) + 0.5f) * 0.5f;
    for (size_t i = 0; i < 8; ++i) {
      const unsigned signs = even_signs(word >> (i / 2 * 7) & 127) >> (i % 2 * 4);
      put_point(iq3_xxs_grid[block.indices[sub][i]], signs, scale, weights);
      weights += 4;
    }
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

void put_points(Block& block, size_t sub, const Points& points, unsigned sub_scale) {
  for (size_t i = 0; i < 8; ++i) block.indices[sub][i] = uint8_t(points.indices[i]);
  uint32_t word = sub_scale << 28;
  for (size_t i = 0; i < 4; ++i) word |= (points.signs[i] & 127u) << (7 * i);
  block.words[sub][0] = uint16_t(word);
  block.words[sub][1] = uint16_t(word >> 16);
}

constexpr Iq3Kind kKind = {.signs = Signs::even, .farthest = 62, .unit = 0.25f};

Block encode_block(std::span<const float> x, std::span<const float> q) {
  static const PointSearch search(iq3_xxs_grid.points);
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

const Format iq3_xxs = {.dtype = DType::IQ3_XXS, .decode = decode, .encode = encode};

}  // namespace evener::quant
