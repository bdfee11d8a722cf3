#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"

namespace evener {

// A matrix of float32 in NumPy's file format, version 1.0, little-endian, C order.
struct NpyMatrix {
  size_t rows = 0;
  size_t cols = 0;
  std::vector<float> values;
};

// Errors: permission_denied, not_found or unavailable (disk full), naming the path.
Result<void> write_npy(const std::filesystem::path& path, size_t rows, size_t cols,
                       std::span<const float> values);

// Files as write_npy makes them. Errors: those of MappedFile; corrupt; unsupported (other types).
Result<NpyMatrix> read_npy(const std::filesystem::path& path);

}  // namespace evener
