#include "bench/export.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>

#include "bench/metrics.h"
#include "bench/store/json_columns.h"
#include "bench/store/request_columns.h"
#include "bench/store/words.h"

namespace evener::bench {
namespace {

constexpr int kExportVersion = 1;

// JSON has no infinities.
json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

struct ToJson {
  json::Value& out;

  void operator()(const char* name, const std::string& text) const { out[name] = text; }
  void operator()(const char* name, bool value) const { out[name] = value; }
  void operator()(const char* name, int value) const { out[name] = value; }
  void operator()(const char* name, uint32_t value) const { out[name] = value; }
  void operator()(const char* name, uint64_t value) const { out[name] = value; }
  void operator()(const char* name, double value) const { out[name] = number(value); }
  void operator()(const char* name, Nanoseconds time) const { out[name] = time.count(); }
  void operator()(const char* name, Hash<const uint64_t> hash) const {
    out[name] = fmt::format("{:016x}", hash.value);
  }
  void operator()(const char* name, Finish finish) const { out[name] = to_word(finish); }
  void operator()(const char* name, Fault fault) const { out[name] = to_word(fault); }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) const {
    if (value) {
      (*this)(name, *value);
    } else {
      out[name] = nullptr;
    }
  }
};

json::Value request_line(const RequestRecord& r) {
  json::Value out;
  visit_request(r, ToJson{out});
  json::Value events = json::Value::array();
  for (const OutputEvent& event : r.events) {
    events.push_back({event.at.count(), event.num_tokens, event.num_bytes, to_word(event.channel)});
  }
  out["events"] = std::move(events);
  return out;
}

json::Value summary_json(const std::string& key, const Summary& s) {
  json::Value out = {{"n", s.n}};
  const ToJson write{out};
  write("mean", s.mean);
  write("sd", s.sd);
  write("min", s.min);
  write("p5", s.p5);
  write("p50", s.p50);
  write("p90", s.p90);
  write("p95", s.p95);
  write("p99", s.p99);
  write("max", s.max);
  if (s.ci95) out["ci95"] = {number(s.ci95->low), number(s.ci95->high)};
  if (const Metric* const metric = find_metric(key)) {
    out["unit"] = metric->unit;
    out["formula"] = metric->formula;
  }
  return out;
}

json::Value cell_line(const CellRecord& cell, const Run& run) {
  json::Value finishes = json::Value::object();
  for (const RequestRecord& r : run.requests) {
    if (r.cell != cell.key || r.excluded) continue;
    json::Value& count = finishes[std::string(to_word(r.finish))];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  json::Value figures = json::Value::object();
  for (const auto& [key, summary] : cell_figures(cell, run.requests, run.values)) {
    figures[key] = summary_json(key, summary);
  }
  return {{"key", cell.key},
          {"experiment", cell.experiment},
          {"target", words_to_json(cell.target)},
          {"round", cell.round},
          {"began_ns", cell.began.count()},
          {"ended_ns", cell.ended.count()},
          {"state", to_word(cell.state)},
          {"num_requests", std::move(finishes)},
          {"figures", std::move(figures)}};
}

json::Value header_line(const Run& run) {
  const RunHeader& header = run.header;
  const auto started = std::chrono::time_point_cast<std::chrono::seconds>(header.started);
  return {{"version", kExportVersion},
          {"name", header.name},
          {"note", header.note},
          {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", started)},
          {"state", to_word(run.state)},
          {"caliber", words_to_json(header.caliber)},
          {"caliber_hash", caliber_hash(header.caliber)}};
}

}  // namespace

void export_lines(const Run& run, const std::function<void(std::string_view line)>& write) {
  const auto put = [&](const char* kind, json::Value line) {
    line["line"] = kind;
    line["run"] = run.header.id;
    write(to_line(line));
  };
  put("header", header_line(run));
  for (const RequestRecord& r : run.requests) put("request", request_line(r));
  for (const Value& value : run.values) {
    put("value", {{"cell", value.cell},
                  {"key", value.key},
                  {"unit", value.unit},
                  {"value", number(value.value)},
                  {"at_ns", value.at.count()}});
  }
  for (const CellRecord& cell : run.cells) put("cell", cell_line(cell, run));
  for (const TelemetryRow& row : run.telemetry) {
    put("telemetry", {{"at_ns", row.at.count()},
                      {"host", host_to_json(row.sample.host)},
                      {"cards", cards_to_json(row.sample.cards)}});
  }
  for (const Finding& finding : run.findings) {
    put("finding", {{"fault", to_word(finding.fault)},
                    {"severity", to_word(finding.severity)},
                    {"cell", finding.cell},
                    {"request", finding.request},
                    {"detail", finding.detail}});
  }
}

}  // namespace evener::bench
