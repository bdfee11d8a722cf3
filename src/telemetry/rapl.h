#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/facts.h"
#include "host/file_tree.h"

namespace evener::telemetry {

// Mean power of all processor packages between two readings, by their energy counters (RAPL).
// A counter starts again at its range; two readings must lie close enough that it did so once at
// most. Source: reference/telemetry/cpu.md.
class PackagePower {
 public:
  explicit PackagePower(const host::FileTree& files);

  // Nothing at the first reading, after a pause of more than a minute, and where a counter cannot
  // be read.
  std::optional<double> read_w(const host::FileTree& files,
                               std::chrono::steady_clock::time_point now);

  // Counters that are there but may not be read.
  const std::optional<host::Missing>& missing() const { return missing_; }

 private:
  struct Package {
    std::string path;
    uint64_t range_uj = 0;
    std::optional<uint64_t> energy_uj;  // of the reading before
  };

  std::vector<Package> packages_;
  std::optional<host::Missing> missing_;
  std::chrono::steady_clock::time_point before_;
};

}  // namespace evener::telemetry
