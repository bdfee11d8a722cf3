#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "safetensors/limits.h"
#include "safetensors/tensor.h"

namespace evener::safetensors {

// The tensors of one file, in the order of their bytes:
//
//     8 bytes  length of the header, little-endian
//     header   {"__metadata__": {...}, NAME: {"dtype": "BF16", "shape": [2, 3],
//               "data_offsets": [begin, end]}, ...}, filled up with spaces
//     data     every byte belongs to exactly one tensor
//
// The header is bounded before it is parsed; every range lies inside the file, is as long as type
// and shape say and touches no other, and names are unique. `file` must outlive the tensors, `name`
// stands for it in errors. Errors: corrupt, unsupported (an element type), limit_exceeded; each
// names the file, and the tensor where there is one.
//
// Source: the safetensors format of Hugging Face. Judges: tests/safetensors/header_test.cpp,
// tests/fuzz/safetensors_fuzz.cpp.
Result<std::vector<Tensor>> read_header(std::span<const std::byte> file, std::string_view name,
                                        const Limits& limits = {});

}  // namespace evener::safetensors
