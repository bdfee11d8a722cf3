#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device_name.h"

namespace evener::device::cpu {

// What this process may use of one NUMA node.
struct CpuNode {
  size_t index = 0;         // "cpu:N"
  size_t os_index = 0;      // the operating system's number of the node
  std::string model;        // "AMD EPYC 7313"; empty if the system does not say
  std::vector<int> cpus;    // one per physical core, by the operating system's numbers
  size_t num_threads = 0;   // hardware threads of those cores
  size_t memory_bytes = 0;  // of the node; 0 if the system does not say
  size_t num_nodes = 1;     // of the machine
};

// All nodes of the machine, in the order of their numbers; those that only have memory, or whose
// cpus this process may not use, have no cpus. Respects the affinity mask of the process (not that
// of the calling thread alone, which may be bound to a device) and the cgroup's cpuset. Error:
// internal (the topology cannot be read).
Result<std::vector<CpuNode>> read_cpu_nodes();

// Errors: invalid_argument (no such node, or no cpu of it may be used), internal.
Result<CpuNode> read_cpu_node(size_t numa_node);

// The cpus of the cores that `name` says, all of the node's if it says none. Error:
// invalid_argument: the node has not so many.
Result<std::vector<int>> cores_of(const CpuNode& node, const DeviceName& name);

}  // namespace evener::device::cpu
