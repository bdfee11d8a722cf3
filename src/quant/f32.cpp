// F32: little-endian floats as they are.
#include <cstring>

#include "quant/formats.h"

namespace evener::quant {
namespace {

void decode(std::span<const std::byte> blocks, float* weights) {
  if (!blocks.empty()) std::memcpy(weights, blocks.data(), blocks.size());
}

void encode(std::span<const float> weights, std::span<const float>, std::span<std::byte> blocks) {
  if (!weights.empty()) std::memcpy(blocks.data(), weights.data(), weights.size_bytes());
}

}  // namespace

const Format f32 = {.dtype = DType::F32, .decode = decode, .encode = encode};

}  // namespace evener::quant
