#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/metrics.h"
#include "bench/recorder.h"
#include "bench/run.h"

// The store of results: one SQLite file that runs are added to and that nothing is ever taken from.
// docs/benchmarks.md describes its tables. Several processes may read and write it at a time. All
// errors name the file.

namespace evener::bench {

class Database;

// "20261130-142231-3fa9": the time (UTC) and a random part.
std::string make_run_id(std::chrono::system_clock::time_point now);

// Writes one run. What is recorded goes through a bounded queue to a thread that commits whatever
// has come since its last commit, so that no caller waits for a disk; only end_cell and finish do,
// for two minutes at most. When the process is killed, what was committed stays, and the run shows
// as unfinished.
//
// After a failure (disk full) the records wait in memory, and the next end_cell or finish tries
// again. If the queue is full they are lost, and end_cell says how many.
class StoreRecorder final : public Recorder {
 public:
  // Makes the file and its folder if need be and writes the header. Time zero is now. Errors:
  // permission_denied, corrupt (another kind of file, a damaged one), unsupported (a later format),
  // unavailable (disk full, held by another process), invalid_argument (the id is taken).
  static Result<std::unique_ptr<StoreRecorder>> create(const std::filesystem::path& file,
                                                       RunHeader header);
  ~StoreRecorder() override;  // tries to write what waits

  Nanoseconds now() const override { return Clock::now() - start_; }
  Clock::time_point start() const override { return start_; }
  void request(RequestRecord record) override;
  void value(Value value) override;
  void finding(Finding finding) override;
  void telemetry(telemetry::Sample sample) override;
  // Works out the cell's figures and stores them beside its records.
  Status end_cell(CellRecord cell) override;

  // Once, after all cells. Nothing can be recorded after it.
  Status finish(RunState state);
  const RunHeader& header() const { return header_; }

 private:
  class Writer;
  StoreRecorder(RunHeader header, std::unique_ptr<Writer> writer);

  RunHeader header_;
  Clock::time_point start_ = Clock::now();
  std::unique_ptr<Writer> writer_;
};

struct RunEntry {
  RunHeader header;
  RunState state = RunState::unfinished;
  uint64_t num_cells = 0;
  uint64_t num_requests = 0;
};

// Reads a store, which may be anybody's: whatever it holds is checked, and what is wrong is an
// error (corrupt) that names table, row and column. One thread at a time.
class Store {
 public:
  static Result<Store> open(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Result<std::vector<RunEntry>> runs();  // the latest first
  // The id that is meant by "last", an id or the beginning of just one. Errors: not_found,
  // invalid_argument (of several: names them).
  Result<std::string> find(std::string_view words);
  Result<Run> load(const std::string& id);
  // As they were worked out at each end_cell; by cell.
  Result<std::map<std::string, CellFigures>> figures(const std::string& id);

  const std::string& file() const;

 private:
  explicit Store(std::unique_ptr<Database> database);

  std::unique_ptr<Database> database_;
};

}  // namespace evener::bench
