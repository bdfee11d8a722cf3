#pragma once

#include <cstddef>

#include "tensor/dtype.h"

namespace evener::device::cpu {

// Where one output's values of a packed block belong: `lane` of `num_lanes`.
struct LanePlace {
  size_t lane;
  size_t num_lanes;
};

// Writes one block of a file's row into its lane of a packed block (of float formats: one value).
// The layouts are described where they are read, in kernels/*.inl. Judge: cpu_linear_test.cpp.
using PackBlock = void (*)(const std::byte* block, LanePlace place, std::byte* packed);

// Null for a type that linear maps cannot use.
PackBlock find_pack_block(DType dtype);

}  // namespace evener::device::cpu
