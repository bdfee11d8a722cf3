#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "device/device.h"

namespace evener::device::cpu {

struct CpuOptions {
  size_t numa_node = 0;    // "cpu:N"
  size_t num_threads = 0;  // 0: one per physical core of the node
  std::string isa;  // "avx2", "avx512vnni"; empty: EVENER_ISA if set, else the best the CPU has
};

// A device that computes on the cores of one NUMA node, with threads pinned to them.
// Errors: invalid_argument (no such node, unknown ISA), unsupported (this CPU lacks AVX2 and FMA,
// or the ISA that was asked for).
Result<std::unique_ptr<Device>> create_cpu_device(const CpuOptions& options);

}  // namespace evener::device::cpu
