#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace evener::parallel {

// The places whose value is not that of more than half of all; all places if there is no such
// value.
inline std::vector<size_t> outside_majority(std::span<const uint64_t> values) {
  const auto has_majority = [&](uint64_t value) {
    return size_t(std::ranges::count(values, value)) * 2 > values.size();
  };
  const auto common = std::ranges::find_if(values, has_majority);
  std::vector<size_t> places;
  for (size_t i = 0; i < values.size(); ++i) {
    if (common == values.end() || values[i] != *common) places.push_back(i);
  }
  return places;
}

}  // namespace evener::parallel
