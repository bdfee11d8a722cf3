#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/file_tree.h"
#include "telemetry/sample.h"

namespace evener::telemetry {

// Load, pressure, memory, swap, and who had the processors between two readings a quarter of a
// second or more apart.
class SystemLoad {
 public:
  // `own_processes`: numbers of processes whose work is the run's own.
  SystemLoad(const host::FileTree& files, std::vector<int> own_processes);

  void read(const host::FileTree& files, std::chrono::steady_clock::time_point now,
            HostReading& reading);

  // Processors that are switched on; 0 if the kernel does not say.
  size_t num_cpus() const { return num_cpus_; }

 private:
  // In ticks of the kernel's accounting.
  struct Ticks {
    uint64_t busy = 0;
    uint64_t idle = 0;
    uint64_t stolen = 0;
    uint64_t all() const { return busy + idle + stolen; }
  };
  static std::optional<Ticks> ticks_in(std::string_view stat);
  std::optional<uint64_t> own_ticks(const host::FileTree& files) const;
  void read_use(const host::FileTree& files, std::chrono::steady_clock::time_point now,
                HostReading& reading);

  std::vector<int> own_processes_;
  size_t num_cpus_ = 0;
  std::optional<Ticks> before_;
  std::optional<uint64_t> own_before_;
  std::chrono::steady_clock::time_point before_at_;
};

}  // namespace evener::telemetry
