#pragma once

#include "base/error.h"
#include "bench/run.h"

namespace evener::bench {

// Where an experiment puts what it sees. Any thread; each call is safe on disk before the caller
// may rely on it at the next end_cell. What could not be written is an error of end_cell and
// finish; nothing recorded before is lost by it.
class Recorder {
 public:
  virtual ~Recorder() = default;

  // Since the start of the run, on Clock.
  virtual Nanoseconds now() const = 0;
  virtual Clock::time_point start() const = 0;

  virtual void request(RequestRecord record) = 0;
  virtual void value(Value value) = 0;
  virtual void finding(Finding finding) = 0;
  virtual void telemetry(telemetry::Sample sample) = 0;
  // A cell whose `state` the caller has settled, after its requests and values.
  virtual Status end_cell(CellRecord cell) = 0;
};

}  // namespace evener::bench
