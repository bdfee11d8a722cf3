#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "device/cpu/cpu_node.h"

namespace evener::device::cpu {

// What this process may use in all, and what is free now, of the memory of one node. On a machine
// with one node that is the machine's.
size_t node_memory_limit(const CpuNode& node);
size_t free_node_memory(const CpuNode& node);

// What the kernel says of a node: its free memory and the file pages that it takes back when asked.
// Read below `root` ("/" but in tests); nothing if it says nothing.
std::optional<size_t> free_bytes_of_node(const std::filesystem::path& root, size_t os_index);

// Asks that pages of `bytes`, whole ones that nobody has touched, come from the node, or from
// others where it has no more. Error: unsupported (a container may forbid it): then each page comes
// from the node of the thread that first touches it.
Status prefer_node(std::span<std::byte> bytes, size_t numa_node);

// The nodes that touched pages of `bytes` lie on, rising. Error: unsupported.
Result<std::vector<size_t>> nodes_of(std::span<const std::byte> bytes);

}  // namespace evener::device::cpu
