// Q4_0: 32 weights share a half as scale.    weight[i] = scale * (code[i] - 8)
// Byte i holds code i in its lower and code i + 16 in its upper four bits.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/levels.h"
#include "quant/nibbles.h"
#include "quant/scale_search.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t codes[16];
};
static_assert(sizeof(Block) == 18);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  for (size_t i = 0; i < 16; ++i) {
    weights[i] = float((block.codes[i] & 15) - 8) * scale;
    weights[i + 16] = float((block.codes[i] >> 4) - 8) * scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 32>(blocks, weights, decode_block);
}

constexpr WholeLevels kLevels = {-8, 7};
constexpr Reaches kReaches = {
    .level = 8, .ratio = 1.04f, .below = 14, .above = 14, .both_signs = true};

Block encode_block(std::span<const float> x, std::span<const float> q) {
  return encode_nibbles<Block>(kLevels, kReaches, x, q);
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 32>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format q4_0 = {.dtype = DType::Q4_0, .decode = decode, .encode = encode};

}  // namespace evener::quant
