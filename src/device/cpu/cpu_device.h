#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"

namespace evener::device::cpu {

struct CpuOptions {
  size_t numa_node = 0;            // "cpu:N"
  std::vector<size_t> cores = {};  // of the node, as device_name.h; empty: all
  size_t num_threads = 0;          // 0: one per physical core
  // "avx2", "avx512vnni"; empty: EVENER_ISA if set, else the best the CPU has.
  std::string isa = {};
};

// A device that computes on cores of one NUMA node, with threads pinned to them and memory of that
// node. More threads than cores share them in turn, unless the cores were named.
// Errors: invalid_argument (no such node or core, more threads than the named cores, unknown ISA),
// unsupported (this CPU lacks AVX2 and FMA, or the ISA that was asked for).
Result<std::unique_ptr<Device>> create_cpu_device(const CpuOptions& options);

}  // namespace evener::device::cpu
