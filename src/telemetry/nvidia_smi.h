#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/sample.h"

namespace evener::telemetry {

// The cards of NVIDIA's driver, by asking its program nvidia-smi: a call takes tens of
// milliseconds, so it is no source for many readings a second.
// Source: reference/telemetry/nvidia.md.
class NvidiaSmi {
 public:
  // `program`: its path; empty: there is none. Asks once to learn which fields this driver knows.
  explicit NvidiaSmi(std::string program);

  bool answers() const { return fields_ != kNumFieldLists; }

  // Empty if it does not answer in time.
  std::vector<CardReading> read(std::chrono::milliseconds time_max);

 private:
  static constexpr size_t kNumFieldLists = 3;

  std::string program_;
  size_t fields_ = kNumFieldLists;  // index of the list in use
};

// Lines of the answer. Fields that are no number ("[N/A]") are absent; lines that name no card are
// left out.
std::vector<CardReading> parse_nvidia_csv(std::string_view csv);

}  // namespace evener::telemetry
