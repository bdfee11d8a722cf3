#include "engine/load_fallback.h"

#include <algorithm>
#include <utility>

#include "engine/load_memory.h"
#include "engine/load_ranks.h"

namespace evener::engine {
namespace {

Status check_room(const gguf::File& file, const RankPlan& plan, const EngineOptions& options,
                  const model::MemoryPlan& memory) {
  ASSIGN_OR_RETURN(const Descriptions descriptions, describe(file, plan));
  std::vector<RankNeed> needs;
  for (const auto& model : descriptions) {
    RankNeed need = need_of(file, *model, memory, Weights::to_be_loaded);
    need.scratch_bytes +=
        need.bytes_per_page * memory.num_pages + need.bytes_per_slot * memory.num_slots;
    need.bytes_per_page = 0;
    need.bytes_per_slot = 0;
    needs.push_back(need);
  }
  ASSIGN_OR_RETURN(const auto pools,
                   memory_pools(plan.devices, {.bytes_max = options.memory_bytes_max,
                                               .reserved_bytes = options.cache_memory_bytes}));
  const CapacityRequest nothing_more{
      .where = file.name(), .page_size = kPageSize, .context_length = 1, .max_sequences = 1};
  RETURN_IF_ERROR(plan_capacity(nothing_more, needs, pools));
  return {};
}

}  // namespace

Result<RankSeats> load_without(const std::vector<std::string>& lost_devices,
                               const std::shared_ptr<const gguf::File>& file, EngineOptions options,
                               const model::MemoryPlan& memory) {
  std::vector<std::string> remaining;
  for (const std::string& device : options.parallel.devices) {
    if (std::ranges::find(lost_devices, device) == lost_devices.end()) remaining.push_back(device);
  }
  if (remaining.empty()) {
    return Error{.code = Code::unavailable,
                 .doing = "load model",
                 .where = file->name(),
                 .why = "no device is left",
                 .remedy = {}};
  }
  options.parallel = {.devices = std::move(remaining), .experts = options.parallel.experts};
  auto plan = plan_ranks(*file, options);
  if (!plan) {
    options.parallel.devices.resize(1);
    plan = plan_ranks(*file, options);
  }
  if (!plan) return std::move(plan).error();
  RETURN_IF_ERROR(check_room(*file, *plan, options, memory));
  return load_ranks(file, *plan, {.num_threads = options.num_threads}, {});
}

}  // namespace evener::engine
