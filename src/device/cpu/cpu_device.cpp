#include "device/cpu/cpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/cpu/kernel_device.h"
#include "device/cpu/node_memory.h"

namespace evener::device::cpu {
namespace {

// Counts up whenever the bytes of a page or a slot, or the roundings that lead to them, change.
constexpr int kCacheLayout = 1;

Result<std::vector<int>> choose_cpus(const CpuNode& node, const DeviceName& name,
                                     size_t num_threads) {
  ASSIGN_OR_RETURN(const std::vector<int> cores, cores_of(node, name));
  if (num_threads == 0) return cores;
  if (num_threads > cores.size() && !name.cores.empty()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "open device",
                 .where = "'" + to_string(name) + "'",
                 .why = fmt::format("{} threads are asked for, it has {} core{}", num_threads,
                                    cores.size(), cores.size() == 1 ? "" : "s"),
                 .remedy = "use --threads 0 for one thread per core"};
  }
  std::vector<int> cpus;
  for (size_t i = 0; i < num_threads; ++i) cpus.push_back(cores[i % cores.size()]);
  return cpus;
}

const OpsKernels& ops_kernels(Isa isa) {
  return isa == Isa::avx512vnni ? ops_kernels_avx512 : ops_kernels_avx2;
}

}  // namespace

Result<std::unique_ptr<Device>> create_cpu_device(const CpuOptions& options) {
  constexpr size_t kThreadsMax = 4096;
  if (options.num_threads > kThreadsMax) {
    return Error{.code = Code::invalid_argument,
                 .doing = "create a CPU device",
                 .where = fmt::format("{} threads", options.num_threads),
                 .why = fmt::format("more than {}", kThreadsMax),
                 .remedy = "use 0 for one thread per core"};
  }
  ASSIGN_OR_RETURN(const Isa isa, choose_isa(options.isa));
  ASSIGN_OR_RETURN(const CpuNode node, read_cpu_node(options.numa_node));
  const DeviceName name = {.numa_node = options.numa_node, .cores = options.cores};
  ASSIGN_OR_RETURN(const std::vector<int> cpus, choose_cpus(node, name, options.num_threads));
  ASSIGN_OR_RETURN(auto pool, ThreadPool::create(cpus));
  DeviceInfo info{
      .name = to_string(name),
      .description = fmt::format("{}, {} thread{}, {}", node.model.empty() ? "CPU" : node.model,
                                 cpus.size(), cpus.size() == 1 ? "" : "s", isa_name(isa)),
      .memory_bytes = node_memory_limit(node),
      .num_threads = cpus.size(),
      .numa_node = options.numa_node,
      .cache_layout = fmt::format("cpu {}, {}", kCacheLayout, isa_name(isa))};
  MemoryPlace place;
  if (node.num_nodes > 1) place.numa_node = node.index;
  return std::make_unique<KernelDevice>(std::move(info), ops_kernels(isa), linear_kernels(isa),
                                        std::move(pool), place);
}

}  // namespace evener::device::cpu
