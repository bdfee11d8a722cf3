#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/metrics.h"
#include "bench/run.h"
#include "bench/store/database.h"

// The rows of a store, table by table.

namespace evener::bench {

// Adds rows of one run. The database must outlive it. Inside a transaction of the caller's.
class RowWriter {
 public:
  static Result<RowWriter> of(Database& database, const std::string& run);

  Status add(const RunHeader& header);
  Status add(RunState end);
  Status add(const CellRecord& cell);
  Status add(const RequestRecord& request);
  Status add(const Value& value);
  Status add(const TelemetryRow& sample);
  Status add(const Finding& finding);
  Status add(const std::string& cell, const CellFigures& of_cell);

 private:
  enum Table : uint8_t { runs, ends, cells, requests, values, figures, telemetry, findings, count };
  explicit RowWriter(std::string run) : run_(std::move(run)) {}

  std::string run_;
  std::vector<Statement> inserts_;  // by Table
};

// Readers, each in the order in which the rows were added. `cell`: only rows of that one. Errors:
// corrupt, with table, row and column; those of Database.
struct Part {
  std::string run;
  std::optional<std::string> cell = {};
};
Result<std::vector<RunHeader>> read_headers(Database& database);
Result<RunState> read_state(Database& database, const std::string& run);
Result<std::vector<CellRecord>> read_cells(Database& database, const std::string& run);
Result<std::vector<RequestRecord>> read_requests(Database& database, const Part& part);
Result<std::vector<Value>> read_values(Database& database, const Part& part);
Result<std::vector<TelemetryRow>> read_telemetry(Database& database, const std::string& run);
Result<std::vector<Finding>> read_findings(Database& database, const std::string& run);
// By cell.
Result<std::map<std::string, CellFigures>> read_figures(Database& database, const std::string& run);

}  // namespace evener::bench
