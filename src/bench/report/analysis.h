#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/metrics.h"
#include "bench/run.h"

namespace evener::bench {

using CellRequests = std::vector<const RequestRecord*>;

// One point of an experiment's table: the rounds of one target.
struct Point {
  std::string experiment;
  std::map<std::string, std::string> target;
  std::vector<const CellRecord*> complete;    // what results are made of
  std::vector<const CellRecord*> incomplete;  // partial and void ones: in no result
};

// A run sorted for reports: which cells count, and what belongs to them. Points into the run, which
// must outlive it.
class Analysis {
 public:
  explicit Analysis(const Run& run);

  const Run& run() const { return run_; }
  // Of one experiment next to each other, in order of its first cell; then by target, numbers as
  // numbers.
  std::span<const Point> points() const { return points_; }
  std::vector<std::string_view> experiments() const;
  std::vector<const Point*> points_of(std::string_view experiment) const;

  // Also void if a finding says so, of the cell or of the whole run.
  CellState state_of(const CellRecord& cell) const;
  std::vector<const Finding*> findings_of(std::string_view cell_key) const;
  std::vector<const Finding*> voiding_run() const;

  const CellRequests& requests_of(const CellRecord& cell) const;
  std::vector<Value> values_of(const CellRecord& cell) const;

  // Figures of the complete rounds together: samples of requests and values pooled, figures of a
  // whole cell one a round. Only requests whose label passes `keep`, if there is one.
  using Keep = bool (*)(std::string_view label);
  CellFigures figures(const Point& point, Keep keep = nullptr) const;
  CellFigures figures(const CellRecord& cell) const;

 private:
  const Run& run_;
  std::vector<Point> points_;
  std::map<std::string_view, CellRequests> requests_;  // by key of their cell
  std::map<std::string_view, std::vector<const Value*>> values_;
  std::map<std::string_view, std::vector<const Finding*>> findings_;
};

// "8192" before "16384", "code" before "prose".
bool less_as_numbers(std::string_view a, std::string_view b);

// The number that a target is, if it is one.
std::optional<double> target_number(const Point& point, const std::string& key);

}  // namespace evener::bench
