#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/utf8.h"
#include "bench/store/events_blob.h"
#include "bench/store/json_columns.h"
#include "bench/store/request_columns.h"
#include "bench/store/rows.h"
#include "bench/store/words.h"

namespace evener::bench {
namespace {

// Binds one value after the other.
class Binder {
 public:
  explicit Binder(Statement& statement) : statement_(statement) {}

  void add(std::string_view text) { statement_.bind(place_++, text); }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(bool value) { add_integer(value ? 1 : 0); }
  void add(int value) { add_integer(value); }
  void add(uint32_t value) { add_integer(value); }
  // SQLite has no larger integers; a count beyond is no count.
  void add(uint64_t value) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    add_integer(int64_t(std::min(value, kMax)));
  }
  void add(double value) { statement_.bind(place_++, value); }
  void add(Nanoseconds time) { add_integer(std::clamp(time, -kTimeMax, kTimeMax).count()); }
  void add(Hash<const uint64_t> hash) { add(fmt::format("{:016x}", hash.value)); }
  void add(Finish finish) { add(to_word(finish)); }
  void add(Fault fault) { add(to_word(fault)); }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value) {
      add(*value);
    } else {
      statement_.bind_null(place_++);
    }
  }
  void add_bytes(std::string_view bytes) { statement_.bind_bytes(place_++, bytes); }
  void add_integer(int64_t value) { statement_.bind(place_++, value); }

 private:
  Statement& statement_;
  int place_ = 1;
};

std::string insert_into(const char* table, const std::vector<std::string>& columns) {
  std::string places;
  for (size_t i = 0; i < columns.size(); ++i) places += i == 0 ? "?" : ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, fmt::join(columns, ", "), places);
}

std::vector<std::string> request_columns() {
  std::vector<std::string> out = {"run"};
  const RequestRecord record;
  visit_request(record, [&](const char* name, const auto&) { out.emplace_back(name); });
  out.insert(out.end(), {"num_events", "events"});
  return out;
}

}  // namespace

Result<RowWriter> RowWriter::of(Database& database, const std::string& run) {
  const std::vector<std::string> statements = {
      insert_into("runs", {"id", "name", "note", "started_ns", "caliber", "caliber_digest"}),
      insert_into("run_ends", {"run", "state"}),
      insert_into("cells",
                  {"run", "key", "experiment", "target", "round", "began_ns", "ended_ns", "state"}),
      insert_into("requests", request_columns()),
      insert_into("cell_values", {"run", "cell", "key", "unit", "value", "at_ns"}),
      insert_into("figures", {"run", "cell", "key", "n", "mean", "sd", "min", "p5", "p50", "p90",
                              "p95", "p99", "max", "ci95_low", "ci95_high"}),
      insert_into("telemetry", {"run", "at_ns", "host", "cards"}),
      insert_into("findings", {"run", "fault", "severity", "cell", "request", "detail"}),
  };
  RowWriter out(run);
  for (const std::string& statement : statements) {
    ASSIGN_OR_RETURN(Statement prepared, database.prepare(statement));
    out.inserts_.push_back(std::move(prepared));
  }
  return out;
}

Status RowWriter::add(const RunHeader& header) {
  const auto started = std::chrono::duration_cast<Nanoseconds>(header.started.time_since_epoch());
  Caliber caliber;  // names that differ in bytes of no UTF-8 alone become one
  for (const auto& [name, value] : header.caliber) {
    caliber.emplace(utf8::replace_invalid(name), utf8::replace_invalid(value));
  }
  Binder row(inserts_[runs]);
  row.add(header.id);
  row.add(header.name);
  row.add(header.note);
  row.add_integer(started.count());
  const std::string line = to_line(words_to_json(caliber));
  row.add(line);
  row.add(text_digest(line));
  return inserts_[runs].run();
}

Status RowWriter::add(RunState end) {
  Binder row(inserts_[ends]);
  row.add(run_);
  row.add(to_word(end));
  return inserts_[ends].run();
}

Status RowWriter::add(const CellRecord& cell) {
  Binder row(inserts_[cells]);
  row.add(run_);
  row.add(cell.key);
  row.add(cell.experiment);
  row.add(to_line(words_to_json(cell.target)));
  row.add(cell.round);
  row.add(cell.began);
  row.add(cell.ended);
  row.add(to_word(cell.state));
  return inserts_[cells].run();
}

Status RowWriter::add(const RequestRecord& request) {
  Binder row(inserts_[requests]);
  row.add(run_);
  visit_request(request, [&](const char*, const auto& value) { row.add(value); });
  row.add(uint64_t(request.events.size()));
  // From the time as it is stored.
  row.add_bytes(encode_events(request.events, std::clamp(request.sent, -kTimeMax, kTimeMax)));
  return inserts_[requests].run();
}

Status RowWriter::add(const Value& value) {
  Binder row(inserts_[values]);
  row.add(run_);
  row.add(value.cell);
  row.add(value.key);
  row.add(value.unit);
  row.add(value.value);
  row.add(value.at);
  return inserts_[values].run();
}

Status RowWriter::add(const TelemetryRow& sample) {
  Binder row(inserts_[telemetry]);
  row.add(run_);
  row.add(sample.at);
  row.add(to_line(host_to_json(sample.sample.host)));
  row.add(to_line(cards_to_json(sample.sample.cards)));
  return inserts_[telemetry].run();
}

Status RowWriter::add(const Finding& finding) {
  Binder row(inserts_[findings]);
  row.add(run_);
  row.add(finding.fault);
  row.add(to_word(finding.severity));
  row.add(finding.cell);
  row.add(finding.request);
  row.add(finding.detail);
  return inserts_[findings].run();
}

Status RowWriter::add(const std::string& cell, const CellFigures& of_cell) {
  for (const auto& [key, s] : of_cell) {
    Binder row(inserts_[figures]);
    row.add(run_);
    row.add(cell);
    row.add(key);
    row.add(s.n);
    for (const double x : {s.mean, s.sd, s.min, s.p5, s.p50, s.p90, s.p95}) row.add(x);
    row.add(s.p99);
    row.add(s.max);
    row.add(s.ci95 ? std::optional(s.ci95->low) : std::nullopt);
    row.add(s.ci95 ? std::optional(s.ci95->high) : std::nullopt);
    RETURN_IF_ERROR(inserts_[figures].run());
  }
  return {};
}

}  // namespace evener::bench
