// The appendix. docs/benchmarks.md, "The appendix", says what its keys mean.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/json.h"
#include "bench/report.h"
#include "bench/report/analysis.h"
#include "bench/report/document.h"
#include "bench/report/goodput_columns.h"
#include "bench/report/json_text.h"
#include "bench/report/sensors.h"
#include "bench/store/words.h"

namespace evener::bench {
namespace {

constexpr int kSchema = 1;
constexpr size_t kFailuresMax = 1000;

using Json = json::Value;

std::string_view name_of(Metric::Better better) {
  switch (better) {
    case Metric::Better::lower:
      return "lower";
    case Metric::Better::higher:
      return "higher";
    case Metric::Better::neither:
      break;
  }
  return "neither";
}

Json summary_json(const Summary& summary) {
  Json out = {{"n", summary.n},     {"mean", summary.mean}, {"sd", summary.sd},
              {"min", summary.min}, {"p5", summary.p5},     {"p50", summary.p50},
              {"p90", summary.p90}, {"p95", summary.p95},   {"max", summary.max}};
  if (summary.p99) out["p99"] = *summary.p99;
  if (summary.ci95) out["ci95"] = {summary.ci95->low, summary.ci95->high};
  return out;
}

Json figures_json(const CellFigures& figures) {
  Json out = Json::object();
  for (const auto& [key, summary] : figures) {
    if (summary.n > 0) out[key] = summary_json(summary);
  }
  return out;
}

Json finding_json(const Finding& finding) {
  Json out = {{"fault", to_word(finding.fault)},
              {"severity", to_word(finding.severity)},
              {"detail", finding.detail}};
  if (!finding.cell.empty()) out["cell"] = finding.cell;
  if (!finding.request.empty()) out["request"] = finding.request;
  return out;
}

// Counts of a cell's requests by how they ended, excluded ones apart.
Json requests_json(const CellRequests& requests) {
  Json by_finish = Json::object();
  uint64_t num_excluded = 0;
  uint64_t num_retries = 0;
  for (const RequestRecord* request : requests) {
    if (request->attempt > 0) ++num_retries;
    if (request->excluded) {
      ++num_excluded;
      continue;
    }
    Json& count = by_finish[std::string(to_word(request->finish))];
    count = count.is_null() ? 1 : count.get<uint64_t>() + 1;
  }
  return {{"finish", by_finish}, {"excluded", num_excluded}, {"retries", num_retries}};
}

Json units_json(const std::vector<Value>& values) {
  Json units = Json::object();
  for (const Value& value : values) units[value.key] = value.unit;
  return units;
}

Json cell_json(const Analysis& analysis, const CellRecord& cell) {
  return {{"key", cell.key},
          {"experiment", cell.experiment},
          {"target", cell.target},
          {"round", cell.round},
          {"began_s", in_s(cell.began)},
          {"ended_s", in_s(cell.ended)},
          {"state", to_word(analysis.state_of(cell))},
          {"requests", requests_json(analysis.requests_of(cell))},
          {"units", units_json(analysis.values_of(cell))},
          {"figures", figures_json(analysis.figures(cell))}};
}

Json point_json(const Analysis& analysis, const Point& point) {
  Json cells = Json::array();
  for (const CellRecord* cell : point.complete) cells.push_back(cell->key);
  Json out = {{"experiment", point.experiment},
              {"target", point.target},
              {"cells", cells},
              {"left_out", point.incomplete.size()},
              {"figures", figures_json(analysis.figures(point))}};
  const std::optional<PointGoodput> good =
      point.experiment == "load" ? point_goodput(analysis, point) : std::nullopt;
  if (good) {
    out["goodput"] = {{"requests_per_s", summary_json(good->requests_per_s)},
                      {"share", good->share}};
  }
  return out;
}

Json metrics_json() {
  Json all = Json::array();
  for (const Metric& metric : metrics()) {
    all.push_back({{"key", metric.key},
                   {"unit", metric.unit},
                   {"formula", metric.formula},
                   {"better", name_of(metric.better)}});
  }
  return all;
}

Json failures_json(const Run& run) {
  Json all = Json::array();
  for (const RequestRecord& request : run.requests) {
    if (request.finish != Finish::error && request.finish != Finish::timeout) continue;
    if (all.size() >= kFailuresMax) break;
    all.push_back({{"cell", request.cell},
                   {"label", request.label},
                   {"attempt", request.attempt},
                   {"finish", to_word(request.finish)},
                   {"http_status", request.http_status},
                   {"error", request.error},
                   {"sent_s", in_s(request.sent)},
                   {"ended_s", in_s(request.ended)}});
  }
  return all;
}

Json summary_of(std::vector<double> readings) { return summary_json(summarise(readings)); }

Json sensors_json(const Run& run) {
  Json host = Json::object();
  for (const HostSensor& sensor : host_sensors()) {
    std::vector<double> readings;
    for (const SensorReading& each : readings_of(run, sensor)) readings.push_back(each.value);
    if (!readings.empty()) host[std::string(sensor.key)] = summary_of(std::move(readings));
  }
  Json cards = Json::array();
  for (const std::string& bus : card_buses(run)) {
    Json figures = Json::object();
    for (const CardSensor& sensor : card_sensors()) {
      std::vector<double> readings;
      for (const SensorReading& each : readings_of(run, bus, sensor)) {
        readings.push_back(each.value);
      }
      if (!readings.empty()) figures[std::string(sensor.key)] = summary_of(std::move(readings));
    }
    cards.push_back({{"bus", bus}, {"name", card_model(run, bus)}, {"figures", figures}});
  }
  return {{"samples", run.telemetry.size()}, {"host", host}, {"cards", cards}};
}

Json run_json(const Run& run) {
  const auto since_epoch = run.header.started.time_since_epoch();
  return {{"id", run.header.id},
          {"name", run.header.name},
          {"note", run.header.note},
          {"started_unix_s", std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count()},
          {"state", to_word(run.state)},
          {"requests", run.requests.size()}};
}

}  // namespace

std::string report_json(const Run& run) {
  const Analysis analysis(run);
  Json cells = Json::array();
  for (const CellRecord& cell : run.cells) cells.push_back(cell_json(analysis, cell));
  Json points = Json::array();
  for (const Point& point : analysis.points()) points.push_back(point_json(analysis, point));
  Json findings = Json::array();
  for (const Finding& finding : run.findings) findings.push_back(finding_json(finding));
  Json missing = Json::array();
  for (const Text& text : not_measured(analysis)) missing.push_back(text.english);

  const Json appendix = {{"schema", "evener-bench-report"},
                         {"version", kSchema},
                         {"run", run_json(run)},
                         {"caliber", run.header.caliber},
                         {"caliber_hash", caliber_hash(run.header.caliber)},
                         {"metrics", metrics_json()},
                         {"points", points},
                         {"cells", cells},
                         {"findings", findings},
                         {"failures", failures_json(run)},
                         {"sensors", sensors_json(run)},
                         {"not_measured", missing}};
  return json_text(appendix, JsonLayout::lines);
}

}  // namespace evener::bench
