#include <algorithm>

#include "bench/report/document.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

constexpr std::string_view kPrefix = "phase_";
constexpr std::string_view kSuffix = "_s";

bool is_phase(std::string_view key) {
  return key.size() > kPrefix.size() + kSuffix.size() && key.starts_with(kPrefix) &&
         key.ends_with(kSuffix);
}

}  // namespace

Text value_title(std::string_view key) {
  if (!is_phase(key)) return word_or_name("value", key);
  key.remove_prefix(kPrefix.size());
  key.remove_suffix(kSuffix.size());
  return word_or_name("phase", key);
}

void add_phases(const Analysis& analysis, Section& section) {
  for (const Point* point : analysis.points_of("coldstart")) {
    for (const CellRecord* cell : point->complete) {
      std::vector<Value> values = analysis.values_of(*cell);
      std::stable_sort(values.begin(), values.end(),
                       [](const Value& a, const Value& b) { return a.at < b.at; });
      PhaseBar bar{.label = cell_and_round(*cell), .phases = {}};
      for (const Value& value : values) {
        if (!is_phase(value.key) || value.value < 0) continue;
        bar.phases.push_back({value_title(value.key), value.value});
      }
      if (!bar.phases.empty()) section.bars.push_back(std::move(bar));
    }
  }
}

}  // namespace evener::bench
