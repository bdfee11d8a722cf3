#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace evener::gguf {

// One tensor as a file stores it, or as a File made of other files shows it.
struct Tensor {
  std::string name;  // "blk.0.attn_q.weight"
  DType dtype = DType::F32;
  // 1 to 4 dimensions, each >= 1, innermost first: a matrix that maps `in` inputs to `out` outputs
  // is [in, out] and holds `out` rows of `in` values. shape[0] is a multiple of the block size.
  std::vector<uint64_t> shape;
  // Inside the file's mapping, exactly the tensor's size; empty if its bytes are made when they are
  // asked for: see File::read().
  std::span<const std::byte> bytes;
  uint64_t file_offset = 0;  // of bytes, from the start of its file; a multiple of 8
  size_t file_index = 0;     // which part of a split file; 0 otherwise

  // How other files store it, where that is not `dtype`: "FP8", in so many bytes; else empty and 0.
  std::string_view stored_as = {};
  uint64_t stored_bytes = 0;

  // Product of the dimensions; was checked not to overflow.
  uint64_t num_elements() const;
  uint64_t size_bytes() const;  // in `dtype`
};

// "[64, 320]"
std::string shape_text(std::span<const uint64_t> shape);

}  // namespace evener::gguf
