#include "engine/layout_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/create_device.h"
#include "device/device_memory.h"
#include "device/device_name.h"
#include "device/measure_speed.h"
#include "engine/load.h"
#include "engine/model_cost.h"
#include "engine/rank_memory_pools.h"
#include "model/loader.h"
#include "parallel/choose_layout.h"

namespace evener::engine {
namespace {

using parallel::DeviceCost;

parallel::LayoutRequest request_of(const ParallelOptions& options) {
  return {.num_shards = options.num_shards,
          .num_stages = options.num_stages,
          .borders = options.borders,
          .ratio = options.ratio,
          .measure_ratio = options.measure_ratio,
          .experts = options.experts};
}

struct Devices {
  std::vector<DeviceCost> costs;
  bool are_alike = true;  // same processors, same number of threads: no need to measure
};

Result<Devices> describe_devices(const PlanOptions& options) {
  Devices devices;
  std::vector<std::string> places;
  std::string first;
  for (const std::string& text : options.parallel.devices) {
    ASSIGN_OR_RETURN(const device::DeviceName name, device::parse_device_name(text));
    ASSIGN_OR_RETURN(const device::DeviceMemory memory, device::device_memory(text));
    ASSIGN_OR_RETURN(const std::string model, device::device_model(text, options.num_threads));
    if (first.empty()) first = model;
    devices.are_alike = devices.are_alike && model == first;
    const auto place = std::ranges::find(places, memory.place);
    devices.costs.push_back(
        {.name = to_string(name),
         .memory = size_t(place - places.begin()),
         .memory_bytes = usable_memory(memory, {.bytes_max = options.memory_bytes_max})});
    if (place == places.end()) places.push_back(memory.place);
  }
  return devices;
}

std::string speeds_text(const std::vector<DeviceCost>& devices) {
  std::vector<std::string> speeds;
  for (const DeviceCost& device : devices) {
    speeds.push_back(fmt::format("{} {:.1f} GB/s and {:.0f} GOP/s", device.name,
                                 device.bytes_per_s * 1e-9, device.operations_per_s * 1e-9));
  }
  return fmt::to_string(fmt::join(speeds, ", "));
}

// "split at 14 (1.2 and 1.3 ms a token), ratio 56:44"
std::string choices_text(const parallel::LayoutRequest& request,
                         const parallel::ChosenLayout& chosen) {
  std::string text;
  if (request.borders.empty() && !chosen.layout.borders.empty()) {
    text = fmt::format("--split {}", fmt::to_string(fmt::join(chosen.layout.borders, ",")));
  }
  if (request.measure_ratio && chosen.layout.ratio.size() > 1) {
    if (!text.empty()) text += ' ';
    text += fmt::format("--ratio {}", fmt::to_string(fmt::join(chosen.layout.ratio, ":")));
  }
  return text;
}

std::string why_of(const parallel::LayoutRequest& request, const parallel::ChosenLayout& chosen,
                   const std::vector<DeviceCost>& devices, bool are_measured) {
  std::string text = choices_text(request, chosen);
  if (text.empty()) return text;
  std::vector<std::string> names;
  for (const size_t device : chosen.device_of_rank) names.push_back(devices[device].name);
  return fmt::format(
      "--devices {} {}, {}", fmt::to_string(fmt::join(names, ",")), text,
      are_measured ? "by speed: " + speeds_text(devices) : "the devices being alike");
}

Result<PlanOptions> plan_options(const gguf::File& file, const EngineOptions& options) {
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(file));
  const size_t wanted = options.context_length == 0 ? kContextMin : options.context_length;
  return PlanOptions{
      .parallel = options.parallel,
      .num_threads = options.num_threads,
      .num_tokens = std::min(wanted, std::max<size_t>(1, config.context_length)),
      .num_rows = options.prefill_chunk + options.max_sequences,
      .num_logit_rows = kPromptLogitRows + options.max_sequences,
      .kv_type = device::kv_type_from_name(options.kv_type).value_or(device::KvType::f16),
      .memory_bytes_max = options.memory_bytes_max};
}

Result<parallel::ModelCost> cost_of(const gguf::File& file, const PlanOptions& options) {
  return model_cost(file, {.num_tokens = options.num_tokens,
                           .num_rows = options.num_rows,
                           .num_logit_rows = options.num_logit_rows,
                           .kv_type = options.kv_type});
}

}  // namespace

Status check_parallel(const ParallelOptions& options) {
  RETURN_IF_ERROR(parallel::grid_of(request_of(options), options.devices.size()));
  return {};
}

Result<RankPlan> plan_ranks(const gguf::File& file, const PlanOptions& options) {
  const std::vector<std::string>& names = options.parallel.devices;
  const parallel::LayoutRequest request = request_of(options.parallel);
  ASSIGN_OR_RETURN(const parallel::Grid grid, parallel::grid_of(request, names.size()));
  RETURN_IF_ERROR(device::check_devices(names));
  // One rank has it all: whether that fits is for the sums of the load to say.
  RankPlan plan;
  plan.devices = names;
  if (grid.num_ranks() == 1) return plan;

  ASSIGN_OR_RETURN(const parallel::ModelCost cost, cost_of(file, options));
  ASSIGN_OR_RETURN(Devices devices, describe_devices(options));
  const bool is_ratio_wanted = request.measure_ratio && grid.num_shards > 1;
  const bool measure =
      parallel::depends_on_speed(request, grid) && (is_ratio_wanted || !devices.are_alike);
  if (measure) {
    ASSIGN_OR_RETURN(const auto speeds, device::measure_speeds(names, options.num_threads));
    for (size_t i = 0; i < speeds.size(); ++i) {
      devices.costs[i].bytes_per_s = speeds[i].bytes_per_s;
      devices.costs[i].operations_per_s = speeds[i].operations_per_s;
    }
  }
  ASSIGN_OR_RETURN(parallel::ChosenLayout chosen,
                   parallel::choose_layout(cost, devices.costs, request));
  plan.why = why_of(request, chosen, devices.costs, measure);
  for (size_t rank = 0; rank < names.size(); ++rank) {
    plan.devices[rank] = names[chosen.device_of_rank[rank]];
  }
  plan.layout = std::move(chosen.layout);
  return plan;
}

Result<RankPlan> plan_ranks(const gguf::File& file, const EngineOptions& options) {
  ASSIGN_OR_RETURN(const PlanOptions wanted, plan_options(file, options));
  return plan_ranks(file, wanted);
}

Result<RankPlan> plan_alike(const gguf::File& file, const EngineOptions& options) {
  const parallel::LayoutRequest request = request_of(options.parallel);
  if (request.measure_ratio) {
    return Error{.code = Code::invalid_argument,
                 .doing = "choose a layout",
                 .where = "--ratio auto",
                 .why = "devices of several machines are not measured",
                 .remedy = "measure them one by one, and name a ratio, as --ratio 5:4"};
  }
  ASSIGN_OR_RETURN(const PlanOptions wanted, plan_options(file, options));
  ASSIGN_OR_RETURN(const parallel::ModelCost cost, cost_of(file, wanted));
  constexpr size_t kEnough = size_t{1} << 56;
  std::vector<DeviceCost> devices;
  for (const std::string& name : options.parallel.devices) {
    devices.push_back({.name = name, .memory = devices.size(), .memory_bytes = kEnough});
  }
  ASSIGN_OR_RETURN(parallel::ChosenLayout chosen, parallel::choose_layout(cost, devices, request));
  return RankPlan{
      .layout = std::move(chosen.layout), .devices = options.parallel.devices, .why = {}};
}

}  // namespace evener::engine
