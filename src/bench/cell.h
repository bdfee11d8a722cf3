#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/record.h"

namespace evener::bench {

// One cell of an experiment: a point of its table, measured once. Rounds are cells of their own.
enum class CellState : uint8_t {
  complete,
  partial,  // interrupted: what was seen is kept and marked
  voided,   // a finding voids it
};

struct CellRecord {
  std::string key;         // "sweep/8192/2": experiment/point/round, unique in a run
  std::string experiment;  // "sweep"
  // The point in words of the experiment: {"num_tokens_in", "8192"}. Cells of two runs are compared
  // if experiment and target are equal.
  std::map<std::string, std::string> target;
  uint32_t round = 0;
  Nanoseconds began{0};
  Nanoseconds ended{0};
  CellState state = CellState::complete;
};

// A figure that no request record holds: bandwidth, a phase of a cold start, a score, memory of the
// server. Several of one key in a cell are samples.
struct Value {
  std::string cell;
  std::string key;   // "read_bandwidth"
  std::string unit;  // "GB/s"; empty for plain numbers
  double value = 0;
  Nanoseconds at{0};
};

}  // namespace evener::bench
