#include "bench/machine/random_weights.h"

#include <random>

namespace evener::bench {

std::vector<std::byte> random_weights(DType dtype, size_t num_weights) {
  const DTypeInfo& layout = info(dtype);
  std::mt19937 random(1);
  std::vector<std::byte> bytes(num_weights / layout.block_size * layout.block_bytes);
  for (std::byte& byte : bytes) byte = std::byte(random() % 40);  // halves far below 1
  if (dtype == DType::MXFP4) {
    for (size_t i = 0; i < bytes.size(); i += layout.block_bytes) bytes[i] = std::byte{120};
  }
  if (dtype == DType::F16 || dtype == DType::BF16 || dtype == DType::F32) {
    const size_t width = layout.block_bytes;  // the sign and the upper bits of the exponent
    for (size_t i = width - 1; i < bytes.size(); i += width) bytes[i] = std::byte{0x3c};
  }
  return bytes;
}

}  // namespace evener::bench
