#include "safetensors/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace evener::safetensors {

uint64_t Tensor::num_elements() const {
  uint64_t product = 1;
  for (const uint64_t dim : shape) product *= dim;
  return product;
}

std::string shape_text(std::span<const uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace evener::safetensors
