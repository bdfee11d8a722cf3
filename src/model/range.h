#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace evener::model {

// Neighbours, counted from 0.
struct Range {
  size_t begin = 0;
  size_t count = 0;
  size_t end() const { return begin + count; }
  bool operator==(const Range&) const = default;
};

// What `range` is in pieces of which each of its members has `width`.
inline Range scaled(const Range& range, size_t width) {
  return {.begin = range.begin * width, .count = range.count * width};
}

inline size_t count_of(std::span<const Range> ranges) {
  size_t count = 0;
  for (const Range& range : ranges) count += range.count;
  return count;
}

// Lists are kept short: what goes on where the last range ends makes that one longer.
inline void append(std::vector<Range>& ranges, const Range& range) {
  if (!ranges.empty() && ranges.back().end() == range.begin) {
    ranges.back().count += range.count;
  } else {
    ranges.push_back(range);
  }
}

}  // namespace evener::model
