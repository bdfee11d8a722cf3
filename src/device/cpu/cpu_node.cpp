#include "device/cpu/cpu_node.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <utility>

#include "device/cpu/machine_topology.h"

namespace evener::device::cpu {
namespace {

Error cannot_read(std::string why, Code code, std::string remedy) {
  return Error{.code = code,
               .doing = "read the processors of this machine",
               .where = "",
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

// Of the process: all that any of its threads may use. All of the machine if that is unknown.
Bitmap allowed_cpus(hwloc_topology_t topology) {
  Bitmap cpus(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, cpus.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_fill(cpus.get());
  }
  return cpus;
}

// The first allowed cpu of each core: the two hardware threads of a core share its vector units.
std::vector<int> one_cpu_per_core(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
  std::vector<int> cpus;
  const Bitmap taken(hwloc_bitmap_alloc());
  int cpu = -1;
  while ((cpu = hwloc_bitmap_next(allowed, cpu)) >= 0) {
    if (hwloc_bitmap_isset(taken.get(), unsigned(cpu))) continue;
    cpus.push_back(cpu);
    const hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology, unsigned(cpu));
    const hwloc_obj_t core =
        unit != nullptr ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit) : nullptr;
    if (core != nullptr) hwloc_bitmap_or(taken.get(), taken.get(), core->cpuset);
  }
  return cpus;
}

std::string cpu_model(hwloc_topology_t topology, hwloc_obj_t node) {
  hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, node);
  if (package == nullptr) package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* const model =
      package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  std::string text = model != nullptr ? model : "";
  text.erase(text.find_last_not_of(' ') + 1);  // some fill it up with blanks
  return text;
}

CpuNode read_node(hwloc_topology_t topology, hwloc_obj_t node, hwloc_const_bitmap_t allowed) {
  const Bitmap cpus(hwloc_bitmap_dup(node->cpuset));
  hwloc_bitmap_and(cpus.get(), cpus.get(), allowed);
  return {.index = node->logical_index,
          .os_index = node->os_index,
          .model = cpu_model(topology, node),
          .cpus = one_cpu_per_core(topology, cpus.get()),
          .num_threads = size_t(std::max(0, hwloc_bitmap_weight(cpus.get()))),
          .memory_bytes = size_t(node->attr->numanode.local_memory)};
}

}  // namespace

Result<std::vector<CpuNode>> read_cpu_nodes() {
  ASSIGN_OR_RETURN(const hwloc_topology_t topology, machine_topology());
  const Bitmap allowed = allowed_cpus(topology);
  std::vector<CpuNode> nodes;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    nodes.push_back(read_node(topology, node, allowed.get()));
  }
  if (nodes.empty()) return cannot_read("hwloc names no NUMA node", Code::internal, "");
  for (CpuNode& each : nodes) each.num_nodes = nodes.size();
  return nodes;
}

Result<CpuNode> read_cpu_node(size_t numa_node) {
  ASSIGN_OR_RETURN(std::vector<CpuNode> nodes, read_cpu_nodes());
  if (numa_node >= nodes.size()) {
    return cannot_read(fmt::format("there is no NUMA node {}", numa_node), Code::invalid_argument,
                       nodes.size() == 1 ? "there is one: cpu:0"
                                         : fmt::format("use cpu:0 to cpu:{}", nodes.size() - 1));
  }
  if (nodes[numa_node].cpus.empty()) {
    return cannot_read(fmt::format("this process may use no cpu of NUMA node {}", numa_node),
                       Code::invalid_argument, "see `taskset -p` and the cgroup's cpuset");
  }
  return std::move(nodes[numa_node]);
}

Result<std::vector<int>> cores_of(const CpuNode& node, const DeviceName& name) {
  if (name.cores.empty()) return node.cpus;
  std::vector<int> cpus;
  for (const size_t core : name.cores) {
    if (core < node.cpus.size()) {
      cpus.push_back(node.cpus[core]);
      continue;
    }
    return Error{
        .code = Code::invalid_argument,
        .doing = "open device",
        .where = "'" + to_string(name) + "'",
        .why = fmt::format(
            "there is no core {}: this process may use {} of NUMA node {}", core,
            node.cpus.size() == 1 ? "one core" : fmt::format("{} cores", node.cpus.size()),
            node.index),
        .remedy = fmt::format(
            "cores are counted from 0: cpu:{0}[0{1}] are all of them; `evener "
            "devices` lists what there is",
            node.index, node.cpus.size() == 1 ? "" : fmt::format("-{}", node.cpus.size() - 1))};
  }
  return cpus;
}

}  // namespace evener::device::cpu
