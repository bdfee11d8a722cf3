#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "safetensors/element.h"

namespace evener::safetensors {

// One tensor as a file stores it.
struct Tensor {
  std::string name;  // "model.layers.0.self_attn.q_proj.weight"
  Element element = Element::F32;
  // Outermost first: a matrix that maps `in` inputs to `out` outputs is [out, in]. No dimension
  // means a single number; a dimension may be 0.
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;  // inside the file's mapping, exactly the size; not aligned
  size_t file_index = 0;             // which file of the folder

  // Product of the dimensions; was checked not to overflow.
  uint64_t num_elements() const;
};

// "[64, 320]"
std::string shape_text(std::span<const uint64_t> shape);

}  // namespace evener::safetensors
