#pragma once

#include <cstddef>
#include <filesystem>

namespace evener::device::cpu {

// What this process may use in all: the smallest of physical memory, the limits of its cgroup and
// the cgroups above it (v2 and v1), and RLIMIT_AS and RLIMIT_DATA.
size_t memory_limit_bytes();

// What is free now: MemAvailable, and what the cgroups leave.
size_t available_memory_bytes();

// The two numbers of the cgroups, read below `root` ("/" but in tests): proc/self/cgroup names the
// groups, sys/fs/cgroup holds them. No limit is the largest size_t.
struct CgroupMemory {
  size_t limit_bytes;
  size_t free_bytes;
};
CgroupMemory read_cgroup_memory(const std::filesystem::path& root);

}  // namespace evener::device::cpu
