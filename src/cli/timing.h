#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/work_times.h"
#include "cli/command_line.h"
#include "device/device.h"
#include "engine/work_report.h"

namespace evener::cli {

// --timing.
void add_timing_option(CommandLine& line, bool& wanted);

// The table that people read: time, share and calls by kind, then a line a layer with experts.
std::string timing_text(const engine::WorkReport& report);

// timing_text() to standard error.
void print_timing(const engine::WorkReport& report);

// --timing of a command that drives a device itself.
class DeviceTiming {
 public:
  void add_option(CommandLine& line) { add_timing_option(line, wanted_); }

  // The device, timed if that is wanted; this object outlives it.
  std::unique_ptr<device::Device> watch(std::unique_ptr<device::Device> device);

  // What came before, as loading, is not counted.
  void begin() { times_.restart(); }
  void finish(std::vector<std::vector<uint64_t>> expert_uses);

 private:
  bool wanted_ = false;
  WorkTimes times_;
};

}  // namespace evener::cli
