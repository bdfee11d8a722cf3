#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace evener::gguf {

// One tensor as a file stores it.
struct Tensor {
  std::string name;  // "blk.0.attn_q.weight"
  DType dtype = DType::F32;
  // 1 to 4 dimensions, each >= 1, innermost first: a matrix that maps `in` inputs to `out` outputs
  // is [in, out] and holds `out` rows of `in` values. shape[0] is a multiple of the block size.
  std::vector<uint64_t> shape;
  std::span<const std::byte> bytes;  // inside the file's mapping, exactly the tensor's size
  uint64_t file_offset = 0;          // of bytes, from the start of its file; a multiple of 8
  size_t file_index = 0;             // which part of a split file; 0 otherwise

  // Product of the dimensions; was checked not to overflow.
  uint64_t num_elements() const;
};

// "[64, 320]"
std::string shape_text(std::span<const uint64_t> shape);

}  // namespace evener::gguf
