#include "bench/report/analysis.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace evener::bench {
namespace {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool target_less(const std::map<std::string, std::string>& a,
                 const std::map<std::string, std::string>& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const auto& x, const auto& y) {
                                        if (x.first != y.first) return x.first < y.first;
                                        return less_as_numbers(x.second, y.second);
                                      });
}

// What is one figure a cell, so that rounds are its samples.
bool is_of_whole_cell(std::string_view key) {
  static const std::set<std::string_view> keys = {
      "output_tokens_per_s", "output_plateau_tokens_per_s",
      "total_tokens_per_s",  "concurrency_achieved",
      "cache_hit_share",     "requests_per_s",
      "accept_rate",         "accept_length",
      "energy_j_per_token"};
  return keys.contains(key);
}

}  // namespace

bool less_as_numbers(std::string_view a, std::string_view b) {
  const std::optional<double> x = parse_number(a);
  const std::optional<double> y = parse_number(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

std::optional<double> target_number(const Point& point, const std::string& key) {
  const auto found = point.target.find(key);
  return found == point.target.end() ? std::nullopt : parse_number(found->second);
}

Analysis::Analysis(const Run& run) : run_(run) {
  for (const RequestRecord& request : run.requests) requests_[request.cell].push_back(&request);
  for (const Value& value : run.values) {
    if (std::isfinite(value.value)) values_[value.cell].push_back(&value);
  }
  for (const Finding& finding : run.findings) findings_[finding.cell].push_back(&finding);

  std::map<std::string_view, size_t> place;  // of an experiment
  std::map<std::pair<std::string, std::map<std::string, std::string>>, size_t> index;
  for (const CellRecord& cell : run.cells) {
    place.emplace(cell.experiment, place.size());
    const auto [at, is_first] =
        index.emplace(std::pair(cell.experiment, cell.target), index.size());
    if (is_first) points_.push_back({cell.experiment, cell.target, {}, {}});
    Point& point = points_[at->second];
    (state_of(cell) == CellState::complete ? point.complete : point.incomplete).push_back(&cell);
  }
  std::stable_sort(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
    if (a.experiment != b.experiment) return place[a.experiment] < place[b.experiment];
    return target_less(a.target, b.target);
  });
}

std::vector<std::string_view> Analysis::experiments() const {
  std::vector<std::string_view> names;
  for (const Point& point : points_) {
    if (names.empty() || names.back() != point.experiment) names.emplace_back(point.experiment);
  }
  return names;
}

std::vector<const Point*> Analysis::points_of(std::string_view experiment) const {
  std::vector<const Point*> found;
  for (const Point& point : points_) {
    if (point.experiment == experiment) found.push_back(&point);
  }
  return found;
}

CellState Analysis::state_of(const CellRecord& cell) const {
  const auto voids = [](const Finding* finding) { return finding->severity == Severity::voids; };
  for (const std::string_view key : {std::string_view(cell.key), std::string_view()}) {
    const auto found = findings_.find(key);
    if (found == findings_.end()) continue;
    if (std::any_of(found->second.begin(), found->second.end(), voids)) return CellState::voided;
  }
  return cell.state;
}

std::vector<const Finding*> Analysis::findings_of(std::string_view cell_key) const {
  const auto found = findings_.find(cell_key);
  return found == findings_.end() ? std::vector<const Finding*>() : found->second;
}

std::vector<const Finding*> Analysis::voiding_run() const {
  std::vector<const Finding*> found = findings_of("");
  std::erase_if(found, [](const Finding* each) { return each->severity != Severity::voids; });
  return found;
}

const CellRequests& Analysis::requests_of(const CellRecord& cell) const {
  static const CellRequests none;
  const auto found = requests_.find(cell.key);
  return found == requests_.end() ? none : found->second;
}

std::vector<Value> Analysis::values_of(const CellRecord& cell) const {
  std::vector<Value> values;
  const auto found = values_.find(cell.key);
  if (found == values_.end()) return values;
  for (const Value* value : found->second) values.push_back(*value);
  return values;
}

CellFigures Analysis::figures(const CellRecord& cell) const {
  return figures(Point{cell.experiment, cell.target, {&cell}, {}});
}

CellFigures Analysis::figures(const Point& point, Keep keep) const {
  if (point.complete.empty()) return {};
  CellRecord pooled = *point.complete.front();
  pooled.ended = point.complete.back()->ended;
  std::vector<RequestRecord> requests;
  std::vector<Value> values;
  std::map<std::string, std::vector<double>, std::less<>> by_round;
  for (const CellRecord* cell : point.complete) {
    const size_t first = requests.size();
    for (const RequestRecord* request : requests_of(*cell)) {
      if (keep != nullptr && !keep(request->label)) continue;
      requests.push_back(*request);
      if (keep != nullptr) requests.back().excluded = false;  // asked for by name
    }
    const std::vector<Value> values_here = values_of(*cell);
    if (point.complete.size() == 1) return cell_figures(*cell, requests, values_here);
    for (const auto& [key, summary] :
         cell_figures(*cell, std::span(requests).subspan(first), values_here)) {
      if (is_of_whole_cell(key)) by_round[key].push_back(summary.p50);
    }
    for (RequestRecord& request : std::span(requests).subspan(first)) request.cell = pooled.key;
    for (const Value& value : values_here) {
      values.push_back(value);
      values.back().cell = pooled.key;
    }
  }
  CellFigures all = cell_figures(pooled, requests, values);
  for (const auto& [key, samples] : by_round) all[key] = summarise(samples);
  return all;
}

}  // namespace evener::bench
