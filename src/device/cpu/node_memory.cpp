#include "device/cpu/node_memory.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "device/cpu/machine_topology.h"
#include "device/cpu/memory_limit.h"

namespace evener::device::cpu {
namespace {

Error cannot_place(std::string_view doing) {
  return Error{.code = Code::unsupported,
               .doing = std::string(doing),
               .where = {},
               .why = std::strerror(errno),
               .remedy = {}};
}

}  // namespace

size_t node_memory_limit(const CpuNode& node) {
  const size_t limit = memory_limit_bytes();
  return node.num_nodes > 1 && node.memory_bytes > 0 ? std::min(limit, node.memory_bytes) : limit;
}

size_t free_node_memory(const CpuNode& node) {
  const size_t free = available_memory_bytes();
  if (node.num_nodes == 1) return free;
  const size_t of_node = free_bytes_of_node("/", node.os_index).value_or(free);
  return std::min({free, of_node, node_memory_limit(node)});
}

// Lines are "Node 0 MemFree:  8123 kB".
std::optional<size_t> free_bytes_of_node(const std::filesystem::path& root, size_t os_index) {
  std::ifstream file(root / fmt::format("sys/devices/system/node/node{}/meminfo", os_index));
  std::optional<size_t> free;
  size_t file_pages = 0;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string ignored;
    std::string key;
    size_t kib = 0;
    if (!(words >> ignored >> ignored >> key >> kib)) continue;
    if (key == "MemFree:") free = kib * 1024;
    if (key == "Active(file):" || key == "Inactive(file):") file_pages += kib * 1024;
  }
  if (!free) return {};
  return *free + file_pages;
}

Status prefer_node(std::span<std::byte> bytes, size_t numa_node) {
  ASSIGN_OR_RETURN(const hwloc_topology_t topology, machine_topology());
  const hwloc_obj_t node = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, unsigned(numa_node));
  // Without HWLOC_MEMBIND_STRICT Linux takes other nodes when this one is full.
  if (node != nullptr && hwloc_set_area_membind(topology, bytes.data(), bytes.size(), node->nodeset,
                                                HWLOC_MEMBIND_BIND, HWLOC_MEMBIND_BYNODESET) == 0) {
    return {};
  }
  return cannot_place("place memory on a NUMA node");
}

Result<std::vector<size_t>> nodes_of(std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const hwloc_topology_t topology, machine_topology());
  const Bitmap set(hwloc_bitmap_alloc());
  if (hwloc_get_area_memlocation(topology, bytes.data(), bytes.size(), set.get(),
                                 HWLOC_MEMBIND_BYNODESET) != 0) {
    return cannot_place("find the NUMA nodes of memory");
  }
  std::vector<size_t> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (hwloc_bitmap_isset(set.get(), node->os_index)) nodes.push_back(node->logical_index);
  }
  return nodes;
}

}  // namespace evener::device::cpu
