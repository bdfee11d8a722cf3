#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/experiment.h"
#include "bench/metrics.h"

namespace evener::bench {

// Requests that come when they come, whatever has been answered.
struct ArrivalsPlan {
  std::string point;  // of the cell
  uint32_t round = 1;
  std::map<std::string, std::string> target;
  std::vector<Nanoseconds> arrivals;
  bool cold = true;
  // Of request i; asked ahead of time where there are not too many.
  std::function<Result<RequestPlan>(uint64_t index)> plan;
};

struct ArrivalsResult {
  Goodput good;
  double good_share = 0;  // of all that came, those not sent among them
  bool overloaded = false;
  bool is_valid = false;  // complete, and nothing found that voids it
};

// One cell of experiment load. The stop rule: overloaded if both what is in flight and the time to
// the first token rise all through the cell, so that more time would only mean more waiting.
Result<ArrivalsResult> measure_arrivals(Bench& bench, ArrivalsPlan plan);

// Whether the records of one window, in order of their sending, show a growing queue.
bool is_overloaded(std::vector<RequestRecord> requests);

}  // namespace evener::bench
