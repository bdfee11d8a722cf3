// Q6_K: 256 weights in sixteen sub-blocks of 16, each with an 8-bit scale.
//     weight[i] = scale * sub_scale * (code[i] - 32)
// Each half of 128 weights is four quarters of 32: of codes i, i + 32, i + 64, i + 96 the lower
// four bits lie in low[i] lower, low[i + 32] lower, low[i] upper, low[i + 32] upper, and the upper
// two bits in high[i], rising.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/levels.h"
#include "quant/sub_scales.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t low[2][64];
  uint8_t high[2][32];
  int8_t sub_scales[16];
  uint16_t scale;  // f16
};
static_assert(sizeof(Block) == 210);

int code(const Block& block, size_t half, size_t i) {
  const size_t quarter = i / 32;
  const int low = block.low[half][i % 64] >> (quarter < 2 ? 0 : 4) & 15;
  const int high = block.high[half][i % 32] >> (2 * quarter) & 3;
  return (low | high << 4) - 32;
}

void decode_block(const Block& block, float* weights) {
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = 0; i < 128; ++i) {
      const float sub_scale = block.sub_scales[half * 8 + i / 16];
      *weights++ = f16_to_f32(block.scale) * sub_scale * float(code(block, half, i));
    }
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

constexpr WholeLevels kLevels = {-32, 31};
constexpr Reaches kReaches = {
    .level = 32, .ratio = 1.025f, .below = 16, .above = 10, .both_signs = true};
constexpr Factors kFactors = {.first = -128, .last = 127, .step = 1};

void put_code(Block& block, size_t i, int code) {
  const size_t half = i / 128;
  const size_t quarter = i % 128 / 32;
  block.low[half][i % 64] |= uint8_t((code & 15) << (quarter < 2 ? 0 : 4));
  block.high[half][i % 32] |= uint8_t(code >> 4 << (2 * quarter));
}

Block encode_block(std::span<const float> x, std::span<const float> q) {
  const auto match = [&](size_t sub, float scale) {
    return match_levels(kLevels, x.subspan(sub * 16, 16), q.subspan(sub * 16, 16), scale);
  };
  const SubScales scales = fit_sub_scales<16>(x, q, kReaches, kFactors, 1, match);
  Block block{};
  block.scale = scales.half;
  for (size_t sub = 0; sub < 16; ++sub) block.sub_scales[sub] = int8_t(scales.factors[sub]);
  for (size_t i = 0; i < 256; ++i) {
    put_code(block, i, kLevels.code(x[i] * inverse_of(scales.of(i / 16))));
  }
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 256>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format q6_k = {.dtype = DType::Q6_K, .decode = decode, .encode = encode};

}  // namespace evener::quant
