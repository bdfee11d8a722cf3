#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "bench/checks.h"
#include "bench/experiment.h"

namespace evener::bench {

// One cell of an experiment that measures the machine itself.
class MachineCell {
 public:
  struct Plan {
    std::string experiment;  // "kernel"
    std::string point;       // "read/2"; the key is experiment/point/round
    uint32_t round = 1;
    std::map<std::string, std::string> target;
  };
  MachineCell(Bench& bench, Plan plan);
  MachineCell(const MachineCell&) = delete;
  MachineCell& operator=(const MachineCell&) = delete;

  void value(std::string_view key, std::string_view unit, double value);
  void finding(Fault fault, Severity severity, std::string detail);

  // Partial if an interrupt came; voided if a finding voids it, as one of the clocks may.
  Status end();

 private:
  Bench& bench_;
  CellRecord cell_;
  ClockReading clocks_;  // when it began
};

// What is timed. `before` and `after` run around each sample, which may be many calls, and are not
// timed; `after` must see the same whether there was one call or many.
struct TimedCall {
  FunctionRef<void()> call;
  FunctionRef<void()> before = kNothing;
  FunctionRef<void()> after = kNothing;

  static constexpr auto kNothing = [] {};
};

// Seconds that one call takes, measured `num_samples` times. Short calls are made many times a
// sample, so that no sample is shorter than five milliseconds. What comes first is not measured.
// Fewer after an interrupt.
std::vector<double> time_calls(const Bench& bench, size_t num_samples, const TimedCall& timed);

}  // namespace evener::bench
