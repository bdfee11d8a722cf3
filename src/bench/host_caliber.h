#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/caliber.h"
#include "host/facts.h"
#include "telemetry/sample.h"

// What a caliber says of the machine. Source: reference/serving/bench.md, 7.

namespace evener::bench {

// What this machine is to the run.
enum class HostRole : uint8_t {
  server,  // the server computes here, or the machine itself is measured
  client,  // only the client runs here; what the server's machine is like is not known
};

// What the kernel says beside the facts of src/host; absent where it does not say.
struct HostSizes {
  std::optional<size_t> num_cores;
  std::optional<size_t> num_cpus;  // hardware threads
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> swap_bytes;  // 0: known to have none
  std::vector<std::string> isas;       // "avx2", "avx512vnni": those that kernels exist for
};

// Of a server:
//   host.        facts_hash, board, cpu, sockets, cores, cpus, isa, ram_bytes, swap, kernel, iommu,
//                cpu_clock_cap_mhz, cards, peers ("1 of 2 directions allowed")
//   device.BUS.  name, vram_bytes, driver, power_cap_w, clock_cap_mhz, link ("16 GT/s x16")
// Of a client:
//   client.      cpu, cpus, ram_bytes, kernel
// A link is told by the best it can be, for it sinks when idle. `sample` has all cards.
Caliber host_caliber(const host::HostFacts& facts, const HostSizes& sizes,
                     const telemetry::Sample& sample, HostRole role);

// Of this machine; what a container hides is left out. Error: limit_exceeded (host::read_live).
Result<Caliber> read_host_caliber(HostRole role);

}  // namespace evener::bench
