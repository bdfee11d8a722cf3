#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "gguf/part.h"

namespace evener::gguf {

// Which part of a split model a file says it is.
struct SplitInfo {
  uint64_t index = 0;        // from 0
  uint64_t count = 0;        // >= 2, index < count
  uint64_t num_tensors = 0;  // of all parts together
};

// What the split.no, split.count and split.tensors.count of `part` say; nothing if the file is
// whole. Errors: corrupt if one is missing or of another kind, or if they contradict each other;
// limit_exceeded for more than `parts_max` parts.
Result<std::optional<SplitInfo>> split_info(const Part& part, uint64_t parts_max);

// The path of part `index` beside `path`, which is the one that `info` was read from. Errors:
// corrupt if the name of `path` does not end in "-00001-of-00003.gguf" with the numbers of `info`.
Result<std::filesystem::path> sibling_path(const std::filesystem::path& path, const SplitInfo& info,
                                           uint64_t index);

}  // namespace evener::gguf
