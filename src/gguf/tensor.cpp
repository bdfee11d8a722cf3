#include "gguf/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace evener::gguf {

uint64_t Tensor::num_elements() const {
  uint64_t product = 1;
  for (const uint64_t dim : shape) product *= dim;
  return product;
}

uint64_t Tensor::size_bytes() const {
  const DTypeInfo& type = info(dtype);
  return num_elements() / type.block_size * type.block_bytes;
}

std::string shape_text(std::span<const uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace evener::gguf
