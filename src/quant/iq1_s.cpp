// IQ1_S: 256 weights as 32 points of eight dimensions; four points share a scale and a shift.
//     weight = scale * (2 sub_scale + 1) * (point[j] + 1/8 or - 1/8)
// A point's index has its lower eight bits in `low`. The word of four points has in bits 0..11 the
// upper three bits of each, the first lowest, in bits 12..14 the scale, in bit 15 whether the shift
// is negative.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/iq1_grid.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint16_t scale;  // f16
  uint8_t low[8][4];
  uint16_t words[8];
};
static_assert(sizeof(Block) == 50);

void decode_block(const Block& block, float* weights) {
  for (size_t sub = 0; sub < 8; ++sub) {
    const unsigned word = block.words[sub];
    const float scale = f16_to_f32(block.scale) * float(2 * (word >> 12 & 7) + 1);
    const float shift = (word >> 15) != 0 ? -0.125f : 0.125f;
    for (size_t i = 0; i < 4; ++i) {
      const unsigned index = block.low[sub][i] | (word >> (3 * i) & 7) << 8;
      for (const int8_t value : iq1_grid[index]) *weights++ = scale * (float(value) + shift);
    }
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format iq1_s = {.dtype = DType::IQ1_S, .decode = decode};

}  // namespace evener::quant
