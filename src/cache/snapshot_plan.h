#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace evener::cache {

// A position at which the recurrent state is to be kept while a prompt is read.
struct SnapshotPoint {
  size_t position = 0;    // a multiple of the page size
  bool optional = false;  // only for the way: left out where slots are short

  bool operator==(const SnapshotPoint&) const = default;
};

struct PromptOutline {
  size_t num_tokens = 0;
  size_t first_position = 0;                  // where reading begins, a multiple of the page size
  std::span<const size_t> message_ends = {};  // rising
  size_t branch = 0;  // a multiple of the page size up to which others have read the same; or 0
};

struct SnapshotRules {
  size_t page_size = 0;
  size_t interval = 0;          // 0: none for the way
  size_t num_message_ends = 0;  // at most so many, beside the first
};

// The points, rising, each once, all in (first_position, num_tokens], at or before
//   - the last token, the branch, the first message's end, and the last num_message_ends of them;
//   - interval * (2^k - 1) tokens before the last token for k = 1, 2, ...: these are optional, and
//     left out within half an interval of another point.
// Judge: tests/cache/snapshot_plan_test.cpp.
std::vector<SnapshotPoint> snapshot_points(const PromptOutline& prompt, const SnapshotRules& rules);

}  // namespace evener::cache
