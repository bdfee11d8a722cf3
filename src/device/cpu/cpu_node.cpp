#include "device/cpu/cpu_node.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace evener::device::cpu {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

Error cannot_read(std::string why, Code code, std::string remedy) {
  return Error{.code = code,
               .doing = "read the processors of this machine",
               .where = "",
               .why = std::move(why),
               .remedy = std::move(remedy)};
}

Result<Topology> load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return cannot_read("hwloc has no memory", Code::internal, "");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) {
    return cannot_read("hwloc cannot read the topology", Code::internal, "");
  }
  return topology;
}

// The cpus of the node that the affinity mask allows; all of the node if the mask is unknown.
Bitmap allowed_cpus(hwloc_topology_t topology, hwloc_obj_t node) {
  Bitmap cpus(hwloc_bitmap_dup(node->cpuset));
  const Bitmap bound(hwloc_bitmap_alloc());
  if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_THREAD) == 0) {
    hwloc_bitmap_and(cpus.get(), cpus.get(), bound.get());
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

std::string cpu_model(hwloc_topology_t topology) {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* const model =
      package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return model != nullptr ? model : "";
}

}  // namespace

Result<CpuNode> read_cpu_node(size_t numa_node) {
  ASSIGN_OR_RETURN(const Topology topology, load_topology());
  const size_t num_nodes =
      size_t(std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE)));
  if (numa_node >= num_nodes) {
    return cannot_read(fmt::format("there is no NUMA node {}", numa_node), Code::invalid_argument,
                       fmt::format("use cpu:0 to cpu:{}", num_nodes - 1));
  }
  const hwloc_obj_t node =
      hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_NUMANODE, unsigned(numa_node));
  if (node == nullptr) return cannot_read("hwloc names no NUMA node", Code::internal, "");
  const Bitmap allowed = allowed_cpus(topology.get(), node);

  CpuNode result;
  result.model = cpu_model(topology.get());
  result.cpus = one_cpu_per_core(topology.get(), allowed.get());
  result.memory_bytes = size_t(node->attr->numanode.local_memory);
  result.num_nodes = num_nodes;
  if (result.cpus.empty()) {
    return cannot_read(fmt::format("this process may use no cpu of NUMA node {}", numa_node),
                       Code::invalid_argument, "see `taskset -p` and the cgroup's cpuset");
  }
  return result;
}

}  // namespace evener::device::cpu
