// What is wrong with a measurement, and what it does not say.
#include <algorithm>
#include <map>

#include "bench/experiment.h"
#include "bench/report/document.h"
#include "bench/report/table_builder.h"
#include "bench/report/words.h"
#include "bench/store/words.h"

namespace evener::bench {
namespace {

constexpr size_t kFailureRowsMax = 200;
constexpr std::string_view kNotMeasured = "not_measured";

bool has_failed(const RequestRecord& request) {
  return request.finish == Finish::error || request.finish == Finish::timeout;
}

Text why_incomplete(const Analysis& analysis, const CellRecord& cell) {
  Text why;
  for (const Finding* finding : analysis.findings_of(cell.key)) {
    if (finding->severity != Severity::voids && finding->fault != Fault::interrupted) continue;
    if (!why.empty()) why = why + Text{"; ", "；"};
    why = why + word_or_name("fault", to_word(finding->fault));
    if (!finding->detail.empty()) why = why + same(": " + shown(finding->detail));
  }
  return why;
}

// Failed requests of one kind in one experiment.
struct FailureKind {
  std::string experiment;
  std::string outcome;  // "HTTP 500: ..."
  Finish finish;
  auto operator<=>(const FailureKind&) const = default;
};

}  // namespace

Text severity_text(Severity severity) { return word_or_name("severity", to_word(severity)); }

std::vector<Warning> warnings(const Analysis& analysis) {
  std::map<std::string_view, const CellRecord*> cells;
  for (const CellRecord& cell : analysis.run().cells) cells.emplace(cell.key, &cell);
  std::vector<Warning> all;
  for (const Finding& finding : analysis.run().findings) {
    if (to_word(finding.fault) == kNotMeasured) continue;  // has a list of its own
    Text where = word("page.whole_run");
    if (!finding.cell.empty()) {
      const auto cell = cells.find(finding.cell);
      where = cell == cells.end() ? same(shown(finding.cell, 100)) : cell_and_round(*cell->second);
    }
    if (!finding.request.empty()) where = where + same(", " + shown(finding.request, 60));
    all.push_back({.severity = finding.severity,
                   .fault = word_or_name("fault", to_word(finding.fault)),
                   .where = std::move(where),
                   .detail = shown(finding.detail)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Warning& a, const Warning& b) { return a.severity > b.severity; });
  return all;
}

Table void_cells(const Analysis& analysis) {
  TableBuilder builder("void-cells", word("page.void_cells"));
  builder.key_column(word("column.cell"));
  builder.text_column(word("column.state"));
  builder.text_column(word("column.why"));
  for (const CellRecord& cell : analysis.run().cells) {
    const CellState state = analysis.state_of(cell);
    if (state == CellState::complete) continue;
    builder.row();
    builder.text(cell_and_round(cell));
    builder.text(word_or_name("state", to_word(state)));
    builder.text(why_incomplete(analysis, cell));
  }
  return builder.finish();
}

Section failures(const Analysis& analysis) {
  std::map<std::string_view, std::string_view> experiment_of;
  for (const CellRecord& cell : analysis.run().cells) experiment_of[cell.key] = cell.experiment;
  std::map<FailureKind, uint64_t> kinds;
  uint64_t num_failed = 0;
  for (const RequestRecord& request : analysis.run().requests) {
    if (!has_failed(request)) continue;
    ++num_failed;
    const auto experiment = experiment_of.find(request.cell);
    std::string outcome = request.http_status == 0 || request.http_status == 200
                              ? std::string()
                              : "HTTP " + std::to_string(request.http_status) + " ";
    outcome += shown(request.error, 160);
    ++kinds[{experiment == experiment_of.end() ? std::string() : std::string(experiment->second),
             outcome, request.finish}];
  }
  const Text total = same(std::to_string(analysis.run().requests.size()));
  Section section{.id = "failures", .title = word("page.failures"), .lead = {}};
  if (num_failed == 0) {
    section.lead = fill(word("page.no_failures"), {total});
    return section;
  }
  section.lead = fill(word("page.failures_lead"), {same(std::to_string(num_failed)), total});
  TableBuilder builder("failed");
  builder.key_column(word("column.experiment"));
  builder.text_column(word("column.outcome"));
  builder.text_column(word("column.detail"));
  builder.number_column(word("column.count"), "");
  size_t num_rows = 0;
  for (const auto& [kind, count] : kinds) {
    if (++num_rows > kFailureRowsMax) break;
    builder.row();
    builder.text(word_or_name("experiment", kind.experiment));
    builder.text(word_or_name("finish", to_word(kind.finish)));
    builder.text(same(kind.outcome));
    builder.number(double(count));
  }
  Table table = builder.finish();
  if (kinds.size() > kFailureRowsMax) {
    table.note =
        fill(word("page.more_rows"), {same(std::to_string(kinds.size() - kFailureRowsMax))});
  }
  section.tables.push_back(std::move(table));
  return section;
}

std::vector<Text> not_measured(const Analysis& analysis) {
  const Text colon{": ", "："};
  std::vector<Text> list;
  for (const Experiment* experiment : experiments()) {
    const std::string_view name = experiment->name;
    const std::vector<const Point*> points = analysis.points_of(name);
    const bool has_result = std::any_of(
        points.begin(), points.end(), [](const Point* point) { return !point->complete.empty(); });
    if (has_result) continue;
    list.push_back(word_or_name("experiment", name) + colon +
                   (points.empty() ? word("page.not_run") : word("page.no_result")));
  }
  const Run& run = analysis.run();
  for (const Finding& finding : run.findings) {
    if (to_word(finding.fault) == kNotMeasured) list.push_back(same(shown(finding.detail)));
  }
  if (run.telemetry.empty()) {
    list.push_back(word("page.no_telemetry"));
  } else if (std::all_of(run.telemetry.begin(), run.telemetry.end(),
                         [](const TelemetryRow& row) { return row.sample.cards.empty(); })) {
    list.push_back(word("page.no_cards"));
  }
  const auto num_uncounted = std::count_if(
      run.requests.begin(), run.requests.end(),
      [](const RequestRecord& request) { return is_sample(request) && !request.num_tokens_out; });
  if (num_uncounted > 0) {
    list.push_back(fill(word("page.no_usage"), {same(std::to_string(num_uncounted))}));
  }
  return list;
}

}  // namespace evener::bench
