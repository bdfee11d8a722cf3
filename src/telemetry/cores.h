#pragma once

#include <string>
#include <vector>

#include "host/file_tree.h"
#include "telemetry/hwmon.h"
#include "telemetry/sample.h"

namespace evener::telemetry {

// Clocks, caps, temperatures and throttle counters of the processors' cores, one hardware thread a
// core: each reading of a clock may interrupt the core it is of.
class Cores {
 public:
  explicit Cores(const host::FileTree& files);

  void read(const host::FileTree& files, HostReading& reading) const;

  size_t num_cores() const { return cores_.size(); }

 private:
  void read_clocks(const host::FileTree& files, HostReading& reading) const;
  void read_throttle(const host::FileTree& files, HostReading& reading) const;

  std::vector<std::string> cores_;     // "sys/devices/system/cpu/cpu0", first thread of a core
  std::vector<std::string> packages_;  // the same, first core of a package
  std::vector<Thermometer> thermometers_;
};

}  // namespace evener::telemetry
