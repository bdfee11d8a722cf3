// IQ4_XS: 256 weights in eight sub-blocks of 32, each with a 6-bit scale.
//     weight[i] = scale * (sub_scale - 32) * level[code[i]]
// Of sub-block s, the scale's lower four bits are those of byte s / 2, the even one's lower; the
// upper two are bits 2 s and 2 s + 1 of a word. Codes lie in each sub-block as in IQ4_NL.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq4_levels.h"
#include "quant/levels.h"
#include "quant/sub_scales.h"
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

constexpr TableLevels kLevels(kIq4Levels);
constexpr Reaches kReaches = {
    .level = 127, .ratio = 1.05f, .below = 10, .above = 10, .both_signs = true};
constexpr Factors kFactors = {.first = -32, .last = 31, .step = 1};

void put_sub_scale(Block& block, size_t sub, int factor) {
  const unsigned code = unsigned(factor + 32);
  block.sub_scales_low[sub / 2] |= uint8_t((code & 15) << (sub % 2 * 4));
  block.sub_scales_high = uint16_t(block.sub_scales_high | code >> 4 << (2 * sub));
}

Block encode_block(std::span<const float> x, std::span<const float> q) {
  const auto match = [&](size_t sub, float scale) {
    return match_levels(kLevels, x.subspan(sub * 32, 32), q.subspan(sub * 32, 32), scale);
  };
  const SubScales scales = fit_sub_scales<8>(x, q, kReaches, kFactors, 1, match);
  Block block{};
  block.scale = scales.half;
  for (size_t sub = 0; sub < 8; ++sub) {
    put_sub_scale(block, sub, scales.factors[sub]);
    const float inverse = inverse_of(scales.of(sub));
    const float* const values = &x[sub * 32];
    for (size_t i = 0; i < 16; ++i) {
      block.codes[sub][i] =
          uint8_t(kLevels.code(values[i] * inverse) | kLevels.code(values[i + 16] * inverse) << 4);
    }
  }
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 256>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format iq4_xs = {.dtype = DType::IQ4_XS, .decode = decode, .encode = encode};

}  // namespace evener::quant
