#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::device::cpu {

// What this process may use of one NUMA node.
struct CpuNode {
  std::string model;        // "AMD EPYC 7313"; empty if the system does not say
  std::vector<int> cpus;    // one per physical core, by the operating system's numbers
  size_t memory_bytes = 0;  // of the node; 0 if the system does not say
  size_t num_nodes = 1;     // of the machine
};

// Respects the affinity mask and the cgroup's cpuset. Errors: invalid_argument (no such node, or no
// cpu of it may be used), internal (the topology cannot be read).
Result<CpuNode> read_cpu_node(size_t numa_node);

}  // namespace evener::device::cpu
