// BF16: the upper halves of f32.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<uint16_t, 1>(blocks, weights,
                              [](uint16_t half, float* w) { *w = bf16_to_f32(half); });
}

constexpr float kLargest = 0x1.fep127f;

// Importance says nothing here: the nearest value is the best for each weight.
void encode(std::span<const float> weights, std::span<const float>, std::span<std::byte> blocks) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint16_t half = f32_to_bf16(std::clamp(weights[i], -kLargest, kLargest));
    std::memcpy(&blocks[i * sizeof half], &half, sizeof half);
  }
}

}  // namespace

const Format bf16 = {.dtype = DType::BF16, .decode = decode, .encode = encode};

}  // namespace evener::quant
