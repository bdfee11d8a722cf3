#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bench/store/events_blob.h"
#include "bench/store/json_columns.h"
#include "bench/store/request_columns.h"
#include "bench/store/row.h"
#include "bench/store/rows.h"

namespace evener::bench {
namespace {

// One T for each row of `columns` of `table`, filled by `take(Row&, T&)`.
template <class T, class Take>
Result<std::vector<T>> read_all(Database& database, std::string_view table,
                                const std::string& columns, const std::optional<Part>& part,
                                const Take& take) {
  std::string sql = fmt::format("SELECT {}, rowid FROM {}", columns, table);
  if (part) sql += part->cell ? " WHERE run = ?1 AND cell = ?2" : " WHERE run = ?1";
  ASSIGN_OR_RETURN(Statement statement, database.prepare(sql + " ORDER BY rowid"));
  if (part) statement.bind(1, std::string_view(part->run));
  if (part && part->cell) statement.bind(2, std::string_view(*part->cell));

  const int rowid = int(std::count(columns.begin(), columns.end(), ',')) + 1;
  std::vector<T> out;
  for (;;) {
    ASSIGN_OR_RETURN(const bool has_row, statement.step());
    if (!has_row) return out;
    Row row(statement,
            fmt::format("{}, table {}, row {}", database.file(), table, statement.integer(rowid)));
    RETURN_IF_ERROR(take(row, out.emplace_back()));
  }
}

std::string request_columns() {
  std::string out;
  const RequestRecord record;
  visit_request(record, [&](const char* name, const auto&) { out += fmt::format("{}, ", name); });
  return out + "num_events, events";
}

Status read_into(Row& row, Summary& s) {
  row.read(s.n);
  for (double* const x : {&s.mean, &s.sd, &s.min, &s.p5, &s.p50, &s.p90, &s.p95}) row.read(*x);
  row.read(s.p99).read(s.max);
  std::optional<double> low;
  std::optional<double> high;
  row.read(low).read(high);
  if (low && high) s.ci95 = {.low = *low, .high = *high};
  return row.status();
}

Status read_header(Row& row, RunHeader& header) {
  row.read(header.id).read(header.name).read(header.note);
  const Nanoseconds started(row.read_integer(0, std::numeric_limits<int64_t>::max()));
  const std::string_view caliber = row.read_text();
  const std::string digest = text_digest(caliber);
  RETURN_IF_ERROR(row.status());
  header.started = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(started));
  ASSIGN_OR_RETURN(header.caliber, words_from_json(caliber, row.place()));
  if (row.read_text() != digest) {
    row.fail_last("it does not belong to the caliber beside it: one of them was changed");
  }
  return row.status();
}

Status read_cell(Row& row, CellRecord& cell) {
  row.read(cell.key).read(cell.experiment).read(cell.round);
  row.read(cell.began).read(cell.ended).read(cell.state);
  const std::string_view target = row.read_text();
  RETURN_IF_ERROR(row.status());
  ASSIGN_OR_RETURN(cell.target, words_from_json(target, row.place()));
  return {};
}

Status read_request(Row& row, RequestRecord& r) {
  visit_request(r, [&](const char*, auto&& value) { row.read(value); });
  uint64_t num_events = 0;
  const std::string_view blob = row.read(num_events).read_bytes();
  RETURN_IF_ERROR(row.status());
  ASSIGN_OR_RETURN(r.events, decode_events(blob, r.sent, row.place()));
  if (r.events.size() == num_events) return {};
  return Error{.code = Code::corrupt,
               .doing = "read the store of results",
               .where = row.place(),
               .why = fmt::format("column 'num_events' says {}, column 'events' holds {}",
                                  num_events, r.events.size()),
               .remedy = ""};
}

Status read_sample(Row& row, TelemetryRow& sample) {
  const std::string_view host = row.read(sample.at).read_text();
  const std::string_view cards = row.read_text();
  RETURN_IF_ERROR(row.status());
  ASSIGN_OR_RETURN(sample.sample.host, host_from_json(host, row.place()));
  ASSIGN_OR_RETURN(sample.sample.cards, cards_from_json(cards, row.place()));
  return {};
}

struct FigureRow {
  std::string cell;
  std::string key;
  Summary summary;
};

}  // namespace

Result<std::vector<RunHeader>> read_headers(Database& database) {
  return read_all<RunHeader>(database, "runs",
                             "id, name, note, started_ns, caliber, caliber_digest", std::nullopt,
                             read_header);
}

Result<RunState> read_state(Database& database, const std::string& run) {
  const auto read_end = [](Row& row, RunState& state) { return row.read(state).status(); };
  ASSIGN_OR_RETURN(const std::vector<RunState> ends,
                   read_all<RunState>(database, "run_ends", "state", Part{.run = run}, read_end));
  return ends.empty() ? RunState::unfinished : ends.front();
}

Result<std::vector<CellRecord>> read_cells(Database& database, const std::string& run) {
  ASSIGN_OR_RETURN(std::vector<CellRecord> cells,
                   read_all<CellRecord>(database, "cells",
                                        "key, experiment, round, began_ns, ended_ns, state, target",
                                        Part{.run = run}, read_cell));
  std::stable_sort(cells.begin(), cells.end(),
                   [](const CellRecord& a, const CellRecord& b) { return a.began < b.began; });
  return cells;
}

Result<std::vector<RequestRecord>> read_requests(Database& database, const Part& part) {
  return read_all<RequestRecord>(database, "requests", request_columns(), part, read_request);
}

Result<std::vector<Value>> read_values(Database& database, const Part& part) {
  return read_all<Value>(database, "cell_values", "cell, key, unit, value, at_ns", part,
                         [](Row& row, Value& value) {
                           row.read(value.cell).read(value.key).read(value.unit);
                           return row.read(value.value).read(value.at).status();
                         });
}

Result<std::vector<TelemetryRow>> read_telemetry(Database& database, const std::string& run) {
  return read_all<TelemetryRow>(database, "telemetry", "at_ns, host, cards", Part{.run = run},
                                read_sample);
}

Result<std::vector<Finding>> read_findings(Database& database, const std::string& run) {
  return read_all<Finding>(database, "findings", "fault, severity, cell, request, detail",
                           Part{.run = run}, [](Row& row, Finding& finding) {
                             row.read(finding.fault).read(finding.severity).read(finding.cell);
                             return row.read(finding.request).read(finding.detail).status();
                           });
}

Result<std::map<std::string, CellFigures>> read_figures(Database& database,
                                                        const std::string& run) {
  ASSIGN_OR_RETURN(
      std::vector<FigureRow> rows,
      read_all<FigureRow>(
          database, "figures",
          "cell, key, n, mean, sd, min, p5, p50, p90, p95, p99, max, ci95_low, ci95_high",
          Part{.run = run}, [](Row& row, FigureRow& figure) {
            return read_into(row.read(figure.cell).read(figure.key), figure.summary);
          }));
  std::map<std::string, CellFigures> out;
  for (FigureRow& row : rows) out[row.cell].emplace(row.key, row.summary);
  return out;
}

}  // namespace evener::bench
