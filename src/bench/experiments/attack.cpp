#include "bench/experiments/attack.h"

#include <algorithm>

#include "bench/metrics.h"
#include "bench/statistics.h"

namespace evener::bench {
namespace {

constexpr double kTimesUsual = 2;
constexpr double kEventsPerTokenMin = 0.9;

std::vector<double> tokens_each(const RequestRecord& record) {
  const std::vector<uint32_t> told = tokens_of_events(record);
  if (!told.empty()) return {told.begin(), told.end()};
  const auto num_tokens = static_cast<double>(num_tokens_out(record).value_or(0));
  const auto num_events = static_cast<double>(record.events.size());
  if (num_tokens == 0 || num_events < kEventsPerTokenMin * num_tokens) return {};
  return std::vector<double>(record.events.size(), num_tokens / num_events);
}

}  // namespace

AttackFigures attack_figures(const RequestRecord& victim, const AttackWindow& attack) {
  AttackFigures figures;
  const std::vector<double> tokens = tokens_each(victim);
  double num_tokens = 0;
  for (size_t i = 0; i < victim.events.size(); ++i) {
    const Nanoseconds at = victim.events[i].at;
    if (i < tokens.size() && at > attack.began && at <= attack.ended) num_tokens += tokens[i];
    if (i == 0 || at <= attack.began || victim.events[i - 1].at >= attack.ended) continue;
    figures.gaps_ms.push_back(in_ms(at - victim.events[i - 1].at));
  }
  if (!figures.gaps_ms.empty()) {
    std::vector<double> sorted = figures.gaps_ms;
    std::ranges::sort(sorted);
    figures.gap_max_ms = sorted.back();
    figures.gap_median_ms = percentile(sorted, 0.5);
  }
  const double seconds = in_ms(attack.ended - attack.began) / 1000;
  if (!tokens.empty() && seconds > 0) {
    figures.tokens_per_s = num_tokens / seconds;
  }
  return figures;
}

ExpectedGaps expected_gaps(uint64_t num_tokens, uint64_t chunk_tokens, double ttft_alone_ms) {
  if (chunk_tokens == 0 || num_tokens == 0) return {};
  const uint64_t num_gaps = (num_tokens - 1) / chunk_tokens + 1;
  return {.num_gaps = num_gaps, .gap_ms = ttft_alone_ms / static_cast<double>(num_gaps)};
}

uint64_t num_gaps_like(const ExpectedGaps& expected, const std::vector<double>& gaps_ms,
                       double usual_ms) {
  const double least = std::max(expected.gap_ms / 2, kTimesUsual * usual_ms);
  return static_cast<uint64_t>(
      std::ranges::count_if(gaps_ms, [least](double gap) { return gap >= least; }));
}

}  // namespace evener::bench
