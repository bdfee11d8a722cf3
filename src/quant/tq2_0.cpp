// TQ2_0: 256 weights share a half as scale.    weight[i] = scale * (code[i] - 1)
// Bytes 32 h .. 32 h + 31 hold half h of the weights: codes i, i + 32, i + 64, i + 96 of a half are
// two bits each of its byte i, rising.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t codes[2][32];
  uint16_t scale;  // f16
};
static_assert(sizeof(Block) == 66);

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  for (size_t i = 0; i < 256; ++i) {
    const int code = block.codes[i / 128][i % 32] >> (i % 128 / 32 * 2) & 3;
    weights[i] = float(code - 1) * scale;
  }
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format tq2_0 = {.dtype = DType::TQ2_0, .decode = decode};

}  // namespace evener::quant
