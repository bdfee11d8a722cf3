// TQ1_0: 256 weights share a half as scale.    weight[i] = scale * (digit[i] - 1)
// A byte holds five digits in base 3 as a binary fraction: 256 times their value behind the point,
// rounded up. Multiplying it by 3 pushes the first digit above the byte and leaves the rest in it.
// Digits 1..5 of bytes 0..31 are weights 0..159, digit by digit; those of bytes 32..47 the 80
// weights behind them; digits 1..4 of the last four bytes the last 16.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

struct Block {
  uint8_t first[32];
  uint8_t second[16];
  uint8_t third[4];
  uint16_t scale;  // f16
};
static_assert(sizeof(Block) == 54);

float* put_digits(std::span<const uint8_t> bytes, size_t num_digits, float scale, float* weights) {
  unsigned pushed = 1;  // 3 to the number of digits that are gone
  for (size_t digit = 0; digit < num_digits; ++digit) {
    for (const uint8_t byte : bytes) {
      const int value = int(uint8_t(byte * pushed) * 3u >> 8);
      *weights++ = float(value - 1) * scale;
    }
    pushed *= 3;
  }
  return weights;
}

void decode_block(const Block& block, float* weights) {
  const float scale = f16_to_f32(block.scale);
  weights = put_digits(block.first, 5, scale, weights);
  weights = put_digits(block.second, 5, scale, weights);
  put_digits(block.third, 4, scale, weights);
}

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<Block, 256>(blocks, weights, decode_block);
}

}  // namespace

const Format tq1_0 = {.dtype = DType::TQ1_0, .decode = decode};

}  // namespace evener::quant
