// BF16: the upper halves of f32.
#include <cstdint>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<uint16_t, 1>(blocks, weights,
                              [](uint16_t half, float* w) { *w = bf16_to_f32(half); });
}

}  // namespace

const Format bf16 = {.dtype = DType::BF16, .decode = decode};

}  // namespace evener::quant
