#include "bench/machine/machine_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace evener::bench {

MachineCell::MachineCell(Bench& bench, Plan plan) : bench_(bench), clocks_(read_clocks()) {
  cell_.key = fmt::format("{}/{}/{}", plan.experiment, plan.point, plan.round);
  cell_.experiment = std::move(plan.experiment);
  cell_.target = std::move(plan.target);
  cell_.round = plan.round;
  cell_.began = bench.recorder.now();
}

void MachineCell::value(std::string_view key, std::string_view unit, double value) {
  bench_.recorder.value({.cell = cell_.key,
                         .key = std::string(key),
                         .unit = std::string(unit),
                         .value = value,
                         .at = bench_.recorder.now()});
}

void MachineCell::finding(Fault fault, Severity severity, std::string detail) {
  if (severity == Severity::voids) cell_.state = CellState::voided;
  bench_.recorder.finding({fault, severity, cell_.key, {}, std::move(detail)});
}

Status MachineCell::end() {
  cell_.ended = bench_.recorder.now();
  if (const auto jump = check_clocks(clocks_, read_clocks())) {
    finding(jump->fault, jump->severity, jump->detail);
  }
  if (bench_.stop) {
    finding(Fault::interrupted, Severity::warning, "ended by an interrupt");
    cell_.state = CellState::partial;
  }
  return bench_.recorder.end_cell(std::move(cell_));
}

std::vector<double> time_calls(const Bench& bench, size_t num_samples, const TimedCall& timed) {
  constexpr double kSampleMin = 5e-3;
  constexpr double kCallsMax = 1e6;
  const auto take_sample = [&](size_t num_calls) {
    timed.before();
    const auto start = Clock::now();
    for (size_t i = 0; i < num_calls; ++i) timed.call();
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    timed.after();
    return elapsed.count() / double(num_calls);
  };
  take_sample(1);
  const double once = std::max(take_sample(1), 1e-9);
  const auto num_calls = size_t(std::clamp(std::ceil(kSampleMin / once), 1.0, kCallsMax));
  std::vector<double> seconds;
  while (seconds.size() < num_samples && !bench.stop) seconds.push_back(take_sample(num_calls));
  return seconds;
}

}  // namespace evener::bench
