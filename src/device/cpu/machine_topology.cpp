#include "device/cpu/machine_topology.h"

#include <string>
#include <utility>

namespace evener::device::cpu {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

Error cannot_read_topology(std::string why) {
  return Error{.code = Code::internal,
               .doing = "read the processors of this machine",
               .where = "",
               .why = std::move(why),
               .remedy = ""};
}

Result<Topology> load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return cannot_read_topology("hwloc has no memory");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) return cannot_read_topology("hwloc cannot read the topology");
  return topology;
}

}  // namespace

Result<hwloc_topology_t> machine_topology() {
  static const Result<Topology> topology = load_topology();
  if (!topology) return Error(topology.error());
  return topology->get();
}

}  // namespace evener::device::cpu
