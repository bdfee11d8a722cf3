#include <algorithm>
#include <array>

#include "bench/report/document.h"
#include "bench/report/numbers.h"
#include "bench/report/table_specs.h"
#include "bench/report/words.h"

namespace evener::bench {
namespace {

struct Wanted {
  std::string_view experiment;
  std::string_view key;
  Statistic statistic;
  bool (*better)(double a, double b);  // which point of the experiment is shown
  bool (*keep)(std::string_view label) = nullptr;
};

bool is_less(double a, double b) { return a < b; }
bool is_more(double a, double b) { return a > b; }

// The best of a capacity, the worst of a stall.
constexpr Wanted kWanted[] = {
    {"sweep", "ttft_ms", Statistic::median, is_less},
    {"sweep", "prefill_tokens_per_s", Statistic::median, is_more},
    {"sweep", "decode_whole_tokens_per_s", Statistic::median, is_more},
    {"concurrency", "output_plateau_tokens_per_s", Statistic::median, is_more},
    {"starvation", "gap_max_ms", Statistic::max, is_more, is_victim},
    {"prefix", "cache_hit_share", Statistic::median, is_more},
    {"spec", "decode_whole_tokens_per_s", Statistic::median, is_more},
    {"coldstart", "total_s", Statistic::median, is_less},
    {"soak", "retention", Statistic::median, is_less},
    {"kernel", "bandwidth", Statistic::median, is_more},
    {"link", "bandwidth", Statistic::median, is_more},
};

std::string unit_of(const Analysis& analysis, const Point& point, std::string_view key) {
  if (const Metric* metric = find_metric(key)) {
    return std::string(bench::unit_of(key, metric->unit));
  }
  for (const CellRecord* cell : point.complete) {
    for (const Value& value : analysis.values_of(*cell)) {
      if (value.key == key) return shown(bench::unit_of(key, value.unit), 20);
    }
  }
  return {};
}

Text title_of(std::string_view key) {
  return find_metric(key) != nullptr ? word_or_name("metric", key) : value_title(key);
}

}  // namespace

std::vector<Headline> headlines(const Analysis& analysis) {
  std::vector<Headline> all;
  for (const Wanted& wanted : kWanted) {
    const Point* best = nullptr;
    double best_value = 0;
    for (const Point* point : analysis.points_of(wanted.experiment)) {
      const CellFigures figures = analysis.figures(*point, wanted.keep);
      const Summary* summary = find_figure(figures, wanted.key);
      if (summary == nullptr) continue;
      const double value = pick(*summary, wanted.statistic);
      if (best != nullptr && !wanted.better(value, best_value)) continue;
      best = point;
      best_value = value;
    }
    if (best == nullptr) continue;
    const std::string unit = unit_of(analysis, *best, wanted.key);
    const NumberFormat format = format_for(std::array{best_value}, unit);
    all.push_back({.label = title_of(wanted.key),
                   .value = number(best_value, format),
                   .unit = format.unit,
                   .about = cell_name(CellRecord{
                       .key = {}, .experiment = best->experiment, .target = best->target})});
  }
  return all;
}

}  // namespace evener::bench
