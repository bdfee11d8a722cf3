#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "gguf/cursor.h"
#include "gguf/tensor.h"

namespace evener::gguf {

// Reads `count` tensor descriptions at the cursor and finds their bytes in `file`, whose data
// section starts at the next multiple of `alignment` (a power of two >= 8). Checks that every
// tensor lies inside the file, on the alignment, apart from the others, and that names are unique.
// A count was read with read_count(kTensorBytesMin, ...).
Result<std::vector<Tensor>> read_tensors(Cursor& cursor, uint64_t count, uint64_t alignment,
                                         std::span<const std::byte> file);

// A name of one byte and one dimension.
inline constexpr uint64_t kTensorBytesMin = 8 + 1 + 4 + 8 + 4 + 8;

}  // namespace evener::gguf
