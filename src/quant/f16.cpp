// F16: IEEE halves.
#include <cstdint>
#include <cstring>

#include "quant/blocks.h"
#include "quant/formats.h"
#include "quant/scale_search.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

void decode(std::span<const std::byte> blocks, float* weights) {
  for_each_block<uint16_t, 1>(blocks, weights,
                              [](uint16_t half, float* w) { *w = f16_to_f32(half); });
}

// Importance says nothing here: the nearest value is the best for each weight.
void encode(std::span<const float> weights, std::span<const float>, std::span<std::byte> blocks) {
  for (size_t i = 0; i < weights.size(); ++i) {
    const uint16_t half = finite_half(weights[i]);
    std::memcpy(&blocks[i * sizeof half], &half, sizeof half);
  }
}

}  // namespace

const Format f16 = {.dtype = DType::F16, .decode = decode, .encode = encode};

}  // namespace evener::quant
