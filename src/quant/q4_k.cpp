// Q4_K: 256 weights in eight sub-blocks of 32, each with a 6-bit scale and a 6-bit minimum.
//     weight[i] = scale * sub_scale * code[i] - min * sub_min
// Bytes 32 j .. 32 j + 31 hold sub-block 2 j in their lower and 2 j + 1 in their upper four bits.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/k_fit.h"
#include "quant/k_scales.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;          // f16
  uint16_t min;            // f16
  uint8_t sub_scales[12];  // see k_scales.h
  uint8_t codes[128];
};
static_assert(sizeof(Block) == 144);

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 8; ++sub) {
    const auto [sub_scale, sub_min] = k_scale_and_min(block.sub_scales, sub);
    const float scale = f16_to_f32(block.scale) * float(sub_scale);
    const float min = f16_to_f32(block.min) * float(sub_min);
    const uint8_t* const codes = block.codes + sub / 2 * 32;
    const int shift = sub % 2 == 0 ? 0 : 4;
    for (size_t i = 0; i < 32; ++i) *weights++ = scale * float(codes[i] >> shift & 15) - min;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

Block encode_block(std::span<const float> x, std::span<const float> q) {
  constexpr float kHighestCode = 15;
  const KScales scales = fit_k_scales(x, q, kHighestCode);
  Block block{.scale = scales.scale, .min = scales.min, .sub_scales = {}, .codes = {}};
  for (size_t sub = 0; sub < 8; ++sub) {
    put_k_scale_and_min(block.sub_scales, sub, {scales.sub_scales[sub], scales.sub_mins[sub]});
    const Line line = scales.line(sub);
    for (size_t i = 0; i < 32; ++i) {
      const int code = line.code(x[sub * 32 + i], kHighestCode);
      block.codes[sub / 2 * 32 + i] |= uint8_t(code << (sub % 2 * 4));
    }
  }
  return block;
}

void encode(std::span<const float> weights, std::span<const float> importance,
            std::span<std::byte> blocks) {
  encode_each_block<Block, 256>(weights, importance, blocks, encode_block);
}

}  // namespace

const Format q4_k = {.dtype = DType::Q4_K, .decode = decode, .encode = encode};

}  // namespace evener::quant
