#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/metrics.h"
#include "bench/run.h"

// Two runs beside each other. Source: reference/serving/bench.md, 9.

namespace evener::bench {

struct MetricComparison {
  std::string key;
  std::string unit;
  std::string role;  // of the requests, where the cell has several ("victim", "attacker"); or empty
  Metric::Better better = Metric::Better::neither;
  double median_a = 0;
  double median_b = 0;
  uint64_t num_a = 0;
  uint64_t num_b = 0;
  std::optional<RatioEstimate> estimate;  // B over A
  // How far the medians of one run's rounds lie from the median of all of them, at most, in A or B,
  // whichever is more; or A from its second run, if that is still more. Absent if A has one round
  // and no second run.
  std::optional<double> noise_floor;
  enum class Verdict : uint8_t {
    too_few,        // no interval: see ratio_of_medians
    noise_unknown,  // A was measured once: what it shows against itself is not known
    no_difference,  // none shown: the interval includes 1, or the effect is within the noise or
                    // below a thousandth
    better,
    worse,
    differs,  // shown, and neither direction is the better one
  } verdict = Verdict::too_few;
};

// A point of a table that both runs have measured. Only complete cells are in it.
struct PointComparison {
  std::string experiment;
  std::map<std::string, std::string> target;
  uint32_t num_rounds_a = 0;
  uint32_t num_rounds_b = 0;
  std::vector<MetricComparison> metrics;
};

// Answers to prompts that both runs asked, with the same wanted length.
struct OutputComparison {
  bool judged = true;  // false: the caliber says that answers were drawn at a temperature
  uint64_t num_prompts = 0;
  uint64_t num_same = 0;
  std::string first_difference;  // cell and label of a request of A
};

struct Comparison {
  std::vector<CaliberDifference> differences;
  std::vector<PointComparison> points;
  uint64_t num_comparisons = 0;  // that were judged: one interval of twenty errs
  uint64_t num_left_out_a = 0;   // cells that are voided or partial
  uint64_t num_left_out_b = 0;
  uint64_t num_only_in_a = 0;  // points
  uint64_t num_only_in_b = 0;
  OutputComparison outputs;
};

// Errors: unsupported, naming what differs, if anything that must match does.
Status check_comparable(const Run& a, const Run& b);

// Compares whatever can be, of different calibers too. `a_again`: a second run of A's, for the
// noise floor; may be null. Errors: not_found, if no point was measured in both.
Result<Comparison> compare_runs(const Run& a, const Run& b, const Run* a_again);

// For a terminal: the runs, what differs between their calibers, a table for each point, and how to
// read it.
std::string comparison_text(const Comparison& comparison, const Run& a, const Run& b);

// B is worse, and the interval lies wholly beyond 3 %.
bool fails_gate(const MetricComparison& metric);

}  // namespace evener::bench
