// F32: little-endian floats as they are.
#include <cstring>

#include "quant/formats.h"

namespace evener::quant {
namespace {

void decode(std::span<const std::byte> blocks, float* weights) {
  if (!blocks.empty()) std::memcpy(weights, blocks.data(), blocks.size());
}

}  // namespace

const Format f32 = {.dtype = DType::F32, .decode = decode};

}  // namespace evener::quant
