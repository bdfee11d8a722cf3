#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace evener::telemetry {

// One reading of a card's sensors. An empty optional is "not offered here", never zero.
// Source: reference/telemetry/amdgpu.md and nvidia.md.
struct CardReading {
  std::string bus;   // "0000:03:00.0": the card's identity, never its index
  std::string name;  // "Radeon RX 7900 XTX"; may be empty
  std::optional<double> power_w;
  std::optional<double> power_cap_w;
  std::optional<double> edge_celsius;
  std::optional<double> junction_celsius;
  std::optional<double> memory_celsius;
  std::optional<double> core_mhz;
  std::optional<double>
      core_mhz_max;  // what the clock may reach as the card is set: a cap shows here
  std::optional<double> memory_mhz;
  std::optional<double> busy;  // 0..1 of the time since the card's own last average
  std::optional<uint64_t> memory_used_bytes;
  std::optional<double> link_gts;
  std::optional<unsigned> link_width;
  std::vector<std::string> throttle;  // reasons in the driver's words: "thermal", "power"
};

// One reading of the processors and the system. Source: reference/telemetry/cpu.md.
struct HostReading {
  std::optional<double> cpu_mhz_mean;
  std::optional<double> cpu_mhz_min;
  std::optional<double>
      cpu_mhz_cap;  // lowest scaling_max_freq: someone limited it if below the maximum
  std::optional<double> cpu_celsius;       // the hottest package
  std::optional<double> cpu_power_w;       // all packages, mean since the reading before
  std::optional<uint64_t> throttle_count;  // of all cores, counts up
  std::optional<double> load_average;      // of a minute
  std::optional<uint64_t> memory_available_bytes;
  std::optional<uint64_t> pages_swapped_in;  // counts up
  std::optional<double> cpu_pressure;        // PSI "some", share of the last 10 s, 0..1

  // Processors at work, mean since the reading before: 1.5 is one and a half of them.
  std::optional<double> cpus_busy;    // for anyone on this system
  std::optional<double> cpus_own;     // of these, for the processes that the sensors were told of
  std::optional<double> cpus_stolen;  // wanted here, but given to others by the hypervisor
};

struct Sample {
  std::chrono::steady_clock::time_point at;
  HostReading host;
  std::vector<CardReading> cards;  // in order of bus address
};

}  // namespace evener::telemetry
