// IQ1_M: 256 weights as 32 points of eight dimensions; two points share a scale.
//     weight = scale * (2 sub_scale + 1) * (point[j] + 1/8 or - 1/8)
// A point's index has its lower eight bits in `low`. Four bits of `high`, the even point's lower,
// are the upper three bits and whether the shift is negative. A word has four 3-bit scales in its
// lower twelve bits; the upper four bits of the four words, the first lowest, are the half `scale`.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq1_grid.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t low[32];
  uint8_t high[16];
  uint16_t words[4];
};
static_assert(sizeof(Block) == 56);

float block_scale(const Block& block) {
  unsigned half = 0;
  for (size_t i = 0; i < 4; ++i) half |= unsigned(block.words[i] >> 12) << (4 * i);
  return f16_to_f32(uint16_t(half));
}

void decode_block(const Block& block, float* weights) {
  const float whole_scale = block_scale(block);
  for (size_t i = 0; i < 32; ++i) {
    const unsigned sub_scale = block.words[i / 8] >> (i % 8 / 2 * 3) & 7u;
    const float scale = whole_scale * float(2 * sub_scale + 1);
    const unsigned high = block.high[i / 2] >> (i % 2 * 4) & 15u;
    const unsigned index = block.low[i] | (high & 7) << 8;
    const float shift = (high & 8) != 0 ? -0.125f : 0.125f;
    for (const int8_t value : iq1_grid[index]) *weights++ = scale * (float(value) + shift);
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq1_m = {.dtype = DType::IQ1_M, .decode = decode};

}  // namespace evener::quant
