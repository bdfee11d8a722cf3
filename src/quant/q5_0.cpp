// Q5_0: 32 weights share a half as scale.    weight[i] = scale * (code[i] - 16)
// Byte i holds the lower four bits of codes i and i + 16; bit i of four bytes is code i's fifth.
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
  uint8_t fifth_bits[4];
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 22);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  const auto fifth = [&](size_t i) { return (block.fifth_bits[i / 8] >> (i % 8) & 1) << 4; };
  for (size_t i = 0; i < 16; ++i) {
    weights[i] = float(((block.codes[i] & 15) | fifth(i)) - 16) * scale;
    weights[i + 16] = float(((block.codes[i] >> 4) | fifth(i + 16)) - 16) * scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

constexpr WholeLevels kLevels = {-16, 15};
constexpr Reaches kReaches = {
    .level = 16, .ratio = 1.02f, .below = 14, .above = 14, .both_signs = true};

Block encode_block(std::span<const float> x, std::span<const float> q) {
  Block block{.scale = find_half_scale(kLevels, kReaches, x, q), .fifth_bits = {}, .codes = {}};
  const float inverse = inverse_of(f16_to_f32(block.scale));
  for (size_t i = 0; i < 32; ++i) {
    const int code = kLevels.code(x[i] * inverse);
    block.codes[i % 16] |= uint8_t((code & 15) << (i / 16 * 4));
    block.fifth_bits[i / 8] |= uint8_t(code >> 4 << i % 8);
  }
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 32>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format q5_0 = {.dtype = DType::Q5_0, .decode = decode, .encode = encode};

}  // namespace evener::quant
