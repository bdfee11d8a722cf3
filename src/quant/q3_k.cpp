// Q3_K: 256 weights in sixteen sub-blocks of 16, each with a 6-bit scale.
//     weight[i] = scale * (sub_scale - 32) * (code[i] - 4)
// The lower two bits of the codes lie as in Q2_K. Byte i of `high` has the third bit of codes
// i, i + 32, ... i + 224, rising.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t high[32];
  uint8_t low[2][32];
  uint8_t sub_scales[12];
  uint16_t scale;  // f16
};
static_assert(sizeof(Block) == 110);

// Lower four bits: bytes 0..7, those of sub-blocks 8..15 in the upper halves. Upper two bits:
// bytes 8..11, where byte 8 + s % 4 has those of s, s + 4, s + 8, s + 12, rising.
int sub_scale(const Block& block, size_t sub) {
  const int low = block.sub_scales[sub % 8] >> (sub < 8 ? 0 : 4) & 15;
  const int high = block.sub_scales[8 + sub % 4] >> (sub / 4 * 2) & 3;
  return (low | high << 4) - 32;
}

int code(const Block& block, size_t i) {
  const int low = block.low[i / 128][i % 32] >> (i % 128 / 32 * 2) & 3;
  const int high = block.high[i % 32] >> (i / 32) & 1;
  return (low | high << 2) - 4;
}

void decode_block(const Block& block, float* weights) {
  for (size_t i = 0; i < 256; ++i) {
    const float scale = f16_to_f32(block.scale) * float(sub_scale(block, i / 16));
    weights[i] = scale * float(code(block, i));
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format q3_k = {.dtype = DType::Q3_K, .decode = decode};

}  // namespace evener::quant
