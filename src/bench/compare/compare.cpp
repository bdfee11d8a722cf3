#include "bench/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace evener::bench {
namespace {

constexpr double kGate = 0.97;
constexpr double kEffectMin = 0.001;  // clocks of two machines differ by a tenth of this
constexpr size_t kDifferencesNamedMax = 6;

using Rounds = std::vector<std::vector<double>>;
using PointKey = std::pair<std::string, std::map<std::string, std::string>>;

// What a figure is compared as.
struct Series {
  std::string key;
  std::string role;
  auto operator<=>(const Series&) const = default;
};

// One run, sorted by points.
struct Sorted {
  const Run& run;
  std::map<PointKey, std::vector<const CellRecord*>> points;  // their rounds, in order
  uint64_t num_left_out = 0;

  explicit Sorted(const Run& from) : run(from) {
    for (const CellRecord& cell : run.cells) {
      if (cell.state == CellState::complete) {
        points[{cell.experiment, cell.target}].push_back(&cell);
      } else {
        ++num_left_out;
      }
    }
    for (auto& [key, cells] : points) {
      std::stable_sort(cells.begin(), cells.end(), [](const CellRecord* a, const CellRecord* b) {
        return a->round < b->round;
      });
    }
  }
};

std::set<std::string, std::less<>> roles_of(const Run& run,
                                            const std::vector<const CellRecord*>& cells) {
  std::set<std::string, std::less<>> out;
  for (const RequestRecord& r : run.requests) {
    const bool is_here = std::any_of(cells.begin(), cells.end(),
                                     [&](const CellRecord* cell) { return cell->key == r.cell; });
    if (is_here && is_sample(r)) out.emplace(role_of(r.label));
  }
  return out;
}

// Pooled gaps are no samples of their own: those of one answer share its fate. Their percentiles of
// each request are compared instead.
bool is_compared(std::string_view key) {
  const Metric* const metric = find_metric(key);
  return metric == nullptr ||
         (metric->scope != Metric::Scope::pooled && metric->better != Metric::Better::neither);
}

bool is_of_requests(std::string_view key) {
  const Metric* const metric = find_metric(key);
  return metric != nullptr && metric->scope == Metric::Scope::request;
}

// Samples of every figure, round by round.
std::map<Series, Rounds> series_of(const Run& run, const std::vector<const CellRecord*>& cells) {
  std::map<Series, Rounds> out;
  const auto add = [&](size_t round, const CellSamples& samples, const std::string& role,
                       bool of_requests) {
    for (const auto& [key, values] : samples) {
      if (!is_compared(key) || is_of_requests(key) != of_requests) continue;
      Rounds& rounds = out[{.key = key, .role = role}];
      rounds.resize(cells.size());
      rounds[round] = values;
    }
  };
  const auto roles = roles_of(run, cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    add(i, cell_samples(*cells[i], run.requests, run.values), "", false);
    for (const std::string& role : roles) {
      add(i, cell_samples(*cells[i], run.requests, run.values, role),
          roles.size() > 1 ? role : std::string(), true);
    }
  }
  return out;
}

std::vector<double> pooled(const Rounds& rounds) {
  std::vector<double> out;
  for (const auto& round : rounds) out.insert(out.end(), round.begin(), round.end());
  return out;
}

std::optional<double> noise_between(const Rounds& rounds) {
  const double all = summarise(pooled(rounds)).p50;
  std::optional<double> out;
  const auto filled =
      std::count_if(rounds.begin(), rounds.end(), [](const auto& round) { return !round.empty(); });
  if (filled < 2 || all <= 0) return out;
  for (const auto& round : rounds) {
    if (round.empty()) continue;
    out = std::max(out.value_or(0), std::abs(summarise(round).p50 / all - 1));
  }
  return out;
}

// What a figure of an experiment's own is good for shows in its unit.
Metric::Better better_by_unit(std::string_view unit) {
  if (unit.ends_with("/s")) return Metric::Better::higher;
  if (unit == "s" || unit == "ms" || unit == "us" || unit == "ns") return Metric::Better::lower;
  return Metric::Better::neither;
}

std::string unit_of(const Run& run, const std::string& key) {
  if (const Metric* const metric = find_metric(key)) return std::string(metric->unit);
  const auto found = std::find_if(run.values.begin(), run.values.end(),
                                  [&](const Value& value) { return value.key == key; });
  return found == run.values.end() ? std::string() : found->unit;
}

MetricComparison::Verdict judge(const MetricComparison& m) {
  using enum MetricComparison::Verdict;
  if (!m.estimate) return too_few;
  if (!m.noise_floor) return noise_unknown;
  const auto& [low, high] = m.estimate->interval;
  const double effect = std::abs(m.estimate->ratio - 1);
  if ((low <= 1 && high >= 1) || effect <= std::max(*m.noise_floor, kEffectMin)) {
    return no_difference;
  }
  if (m.better == Metric::Better::neither) return differs;
  const bool is_higher = m.estimate->ratio > 1;
  return is_higher == (m.better == Metric::Better::higher) ? better : worse;
}

MetricComparison compare_series(const Run& run, const Series& series, const Rounds& a,
                                const Rounds& b, const Rounds* a_again) {
  MetricComparison out;
  out.key = series.key;
  out.role = series.role;
  out.unit = unit_of(run, series.key);
  const Metric* const metric = find_metric(series.key);
  out.better = metric != nullptr ? metric->better : better_by_unit(out.unit);
  const Summary of_a = summarise(pooled(a));
  const Summary of_b = summarise(pooled(b));
  out.median_a = of_a.p50;
  out.median_b = of_b.p50;
  out.num_a = of_a.n;
  out.num_b = of_b.n;
  out.estimate = ratio_of_medians(a, b);
  out.noise_floor = noise_between(a);
  if (out.noise_floor) out.noise_floor = std::max(*out.noise_floor, noise_between(b).value_or(0));
  if (a_again != nullptr && out.median_a > 0) {
    const double shift = std::abs(summarise(pooled(*a_again)).p50 / out.median_a - 1);
    out.noise_floor = std::max({out.noise_floor.value_or(0), noise_between(b).value_or(0), shift});
  }
  out.verdict = judge(out);
  return out;
}

// In the order of the metrics, then the experiments' own figures.
void sort_by_metric(std::vector<MetricComparison>& of_a_point) {
  const auto place = [](const MetricComparison& m) {
    const Metric* const metric = find_metric(m.key);
    return metric == nullptr ? metrics().size() : size_t(metric - metrics().data());
  };
  std::stable_sort(
      of_a_point.begin(), of_a_point.end(),
      [&](const MetricComparison& x, const MetricComparison& y) { return place(x) < place(y); });
}

PointComparison compare_point(const PointKey& key, const Sorted& a, const Sorted& b,
                              const Sorted* a_again) {
  const auto& cells_a = a.points.at(key);
  const auto& cells_b = b.points.at(key);
  PointComparison out = {.experiment = key.first,
                         .target = key.second,
                         .num_rounds_a = uint32_t(cells_a.size()),
                         .num_rounds_b = uint32_t(cells_b.size()),
                         .metrics = {}};
  const auto series_a = series_of(a.run, cells_a);
  const auto series_b = series_of(b.run, cells_b);
  std::map<Series, Rounds> again;
  if (a_again != nullptr && a_again->points.contains(key)) {
    again = series_of(a_again->run, a_again->points.at(key));
  }
  for (const auto& [series, rounds] : series_a) {
    const auto other = series_b.find(series);
    if (other == series_b.end()) continue;
    const auto second = again.find(series);
    out.metrics.push_back(compare_series(a.run, series, rounds, other->second,
                                         second == again.end() ? nullptr : &second->second));
  }
  sort_by_metric(out.metrics);
  return out;
}

// The first answer of each prompt.
std::map<std::pair<uint64_t, uint32_t>, const RequestRecord*> answers_of(const Run& run) {
  std::map<std::pair<uint64_t, uint32_t>, const RequestRecord*> out;
  for (const RequestRecord& r : run.requests) {
    const bool is_whole =
        r.finish == Finish::stop || r.finish == Finish::length || r.finish == Finish::tool_calls;
    if (is_whole && r.prompt_hash != 0 && r.output_hash != 0) {
      out.emplace(std::pair(r.prompt_hash, r.num_tokens_out_wanted), &r);
    }
  }
  return out;
}

bool is_drawn(const Run& run) {
  const auto found = run.header.caliber.find("method.temperature");
  return found != run.header.caliber.end() && found->second != "0";
}

OutputComparison compare_outputs(const Run& a, const Run& b) {
  OutputComparison out;
  out.judged = !is_drawn(a) && !is_drawn(b);
  if (!out.judged) return out;
  const auto answers_b = answers_of(b);
  for (const auto& [prompt, of_a] : answers_of(a)) {
    const auto found = answers_b.find(prompt);
    if (found == answers_b.end()) continue;
    ++out.num_prompts;
    if (found->second->output_hash == of_a->output_hash) {
      ++out.num_same;
    } else if (out.first_difference.empty()) {
      out.first_difference = fmt::format("{}, {}", of_a->cell, of_a->label);
    }
  }
  return out;
}

}  // namespace

Status check_comparable(const Run& a, const Run& b) {
  std::vector<std::string> named;
  size_t num_differing = 0;
  for (const CaliberDifference& d : differences(a.header.caliber, b.header.caliber)) {
    if (d.rule != CaliberRule::must_match) continue;
    if (++num_differing > kDifferencesNamedMax) continue;
    const auto word = [](const std::string& text) {
      return text.empty() ? std::string("unknown") : printable(text, 60);
    };
    named.push_back(
        fmt::format("{} ({} and {})", printable(d.name, 80), word(d.in_a), word(d.in_b)));
  }
  if (named.empty()) return {};
  const size_t num_more = num_differing - named.size();
  return Error{.code = Code::unsupported,
               .doing = "compare",
               .where = fmt::format("{} and {}", a.header.id, b.header.id),
               .why = fmt::format("they are of different calibers: {}{}", fmt::join(named, "; "),
                                  num_more > 0 ? fmt::format("; and {} more", num_more) : ""),
               .remedy = "measure both alike, or look at them beside each other with --force"};
}

Result<Comparison> compare_runs(const Run& a, const Run& b, const Run* a_again) {
  const Sorted sorted_a(a);
  const Sorted sorted_b(b);
  std::optional<Sorted> sorted_again;
  if (a_again != nullptr) sorted_again.emplace(*a_again);

  Comparison out;
  out.differences = differences(a.header.caliber, b.header.caliber);
  out.num_left_out_a = sorted_a.num_left_out;
  out.num_left_out_b = sorted_b.num_left_out;
  for (const auto& [key, cells] : sorted_a.points) {
    if (!sorted_b.points.contains(key)) {
      ++out.num_only_in_a;
      continue;
    }
    out.points.push_back(
        compare_point(key, sorted_a, sorted_b, sorted_again ? &*sorted_again : nullptr));
    for (const MetricComparison& m : out.points.back().metrics) {
      if (m.estimate && m.noise_floor) ++out.num_comparisons;
    }
  }
  out.num_only_in_b = sorted_b.points.size() - out.points.size();
  if (out.points.empty()) {
    return Error{.code = Code::not_found,
                 .doing = "compare",
                 .where = fmt::format("{} and {}", a.header.id, b.header.id),
                 .why = "no point was measured, whole, in both",
                 .remedy = "evener bench show RUN says what each has measured"};
  }
  out.outputs = compare_outputs(a, b);
  return out;
}

bool fails_gate(const MetricComparison& m) {
  if (m.verdict != MetricComparison::Verdict::worse) return false;
  if (m.better == Metric::Better::higher) return m.estimate->interval.high < kGate;
  return m.better == Metric::Better::lower && m.estimate->interval.low > 1 / kGate;
}

}  // namespace evener::bench
