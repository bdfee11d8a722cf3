#include "engine/work_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace evener::engine {

ExpertSpread spread_of(std::span<const uint64_t> uses) {
  ExpertSpread spread;
  spread.num_choices = std::accumulate(uses.begin(), uses.end(), uint64_t{0});
  if (spread.num_choices == 0) return spread;
  for (const uint64_t count : uses) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(spread.num_choices);
    ++spread.num_used;
    spread.top_share = std::max(spread.top_share, share);
    spread.entropy_bits -= share * std::log2(share);
  }
  return spread;
}

}  // namespace evener::engine
