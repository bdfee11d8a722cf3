// Q8_0: 32 weights share a half as scale.    weight[i] = scale * code[i]
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/levels.h"
#include "quant/scale_search.h"
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

// Code -128 is left out: products of 8-bit codes are easier without it, for us and for others.
constexpr WholeLevels kLevels = {-127, 127};
constexpr Reaches kReaches = {
    .level = 127, .ratio = 1.007f, .below = 16, .above = 8, .both_signs = false};

Block encode_block(std::span<const float> x, std::span<const float> q) {
  Block block{.scale = find_half_scale(kLevels, kReaches, x, q), .code = {}};
  const float inverse = inverse_of(f16_to_f32(block.scale));
  for (size_t i = 0; i < 32; ++i) block.code[i] = int8_t(kLevels.nearest(x[i] * inverse));
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 32>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format q8_0 = {.dtype = DType::Q8_0, .decode = decode, .encode = encode};

}  // namespace evener::quant
