#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/caliber.h"
#include "bench/cell.h"
#include "bench/finding.h"
#include "bench/record.h"
#include "telemetry/sample.h"

namespace evener::bench {

// What is written once, before the first request.
struct RunHeader {
  std::string id;    // "20261130-142231-3fa9": time and a random part; names a run everywhere
  std::string name;  // what was run: "sweep", "all"
  std::string note;  // the user's words (--note)
  std::chrono::system_clock::time_point started;
  Caliber caliber;
};

enum class RunState : uint8_t {
  unfinished,  // running, or the client died: the store has no end for it
  complete,
  interrupted,
  failed,
};

struct TelemetryRow {
  Nanoseconds at{0};  // since the start of the run; Sample::at is not used here
  telemetry::Sample sample;
};

// A run as read back from a store.
struct Run {
  RunHeader header;
  RunState state = RunState::unfinished;
  std::vector<CellRecord> cells;        // in order of their beginning
  std::vector<RequestRecord> requests;  // in order of their end
  std::vector<Value> values;
  std::vector<TelemetryRow> telemetry;
  std::vector<Finding> findings;
};

}  // namespace evener::bench
