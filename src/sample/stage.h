#pragma once

#include <span>
#include <string_view>

#include "sample/candidates.h"
#include "sample/params.h"

namespace evener::sample {

// One way of reshaping or cutting the distribution. Adding one is a file and a line in stages.cpp.
struct Stage {
  std::string_view name;
  bool (*is_on)(const Params& params);
  // Leaves at least one candidate, whatever the parameters within their ranges.
  void (*apply)(const Params& params, Candidates& candidates);
};

// In the order in which they are applied.
std::span<const Stage* const> stages();

}  // namespace evener::sample
