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
#include "device/cpu/memory_limit.h"

namespace evener::device::cpu {
namespace {

// Counts up whenever the bytes of a page or a slot, or the roundings that lead to them, change.
constexpr int kCacheLayout = 1;

// More threads than cores share them in turn.
std::vector<int> choose_cpus(const CpuNode& node, size_t num_threads) {
  if (num_threads == 0) return node.cpus;
  std::vector<int> cpus;
  for (size_t i = 0; i < num_threads; ++i) cpus.push_back(node.cpus[i % node.cpus.size()]);
  return cpus;
}

const OpsKernels& ops_kernels(Isa isa) {
  return isa == Isa::avx512vnni ? ops_kernels_avx512 : ops_kernels_avx2;
}

size_t usable_memory(const CpuNode& node) {
  const size_t limit = memory_limit_bytes();
  return node.num_nodes > 1 && node.memory_bytes > 0 ? std::min(limit, node.memory_bytes) : limit;
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
  ASSIGN_OR_RETURN(auto pool, ThreadPool::create(choose_cpus(node, options.num_threads)));
  DeviceInfo info{
      .name = fmt::format("cpu:{}", options.numa_node),
      .description = fmt::format("{}, {} threads, {}", node.model.empty() ? "CPU" : node.model,
                                 pool->num_threads(), isa_name(isa)),
      .memory_bytes = usable_memory(node),
      .cache_layout = fmt::format("cpu {}, {}", kCacheLayout, isa_name(isa))};
  return std::make_unique<KernelDevice>(std::move(info), ops_kernels(isa), linear_kernels(isa),
                                        std::move(pool));
}

}  // namespace evener::device::cpu
