#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "bench/recorder.h"

namespace evener::bench {

// A recorder that keeps what it is given. All but telemetry from one thread.
class Notebook final : public Recorder {
 public:
  Nanoseconds now() const override { return Clock::now() - start_; }
  Clock::time_point start() const override { return start_; }
  void request(RequestRecord record) override { requests.push_back(std::move(record)); }
  void value(Value value) override { values.push_back(std::move(value)); }
  void finding(Finding finding) override { findings.push_back(std::move(finding)); }
  void telemetry(telemetry::Sample) override { ++num_samples; }
  Status end_cell(CellRecord cell) override {
    cells.push_back(std::move(cell));
    return {};
  }

  std::vector<RequestRecord> requests;
  std::vector<Value> values;
  std::vector<Finding> findings;
  std::vector<CellRecord> cells;
  std::atomic<size_t> num_samples = 0;

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace evener::bench
