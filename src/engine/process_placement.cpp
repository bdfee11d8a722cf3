#include "engine/process_placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/version.h"
#include "device/cpu/memory_limit.h"
#include "device/create_device.h"
#include "engine/load.h"
#include "engine/load_fallback.h"
#include "engine/model_identity.h"
#include "engine/open_model.h"
#include "engine/rank_wire.h"
#include "engine/serve_commands.h"

namespace evener::engine {
namespace {

// "rank 1 (host-b cpu:0)" is "host-b cpu:0" and on host "host-b".
std::string_view place_of(const std::string& name) {
  const size_t begin = name.find('(') + 1;
  return std::string_view(name).substr(begin, name.size() - begin - 1);
}

std::string_view host_of(const std::string& name) {
  const std::string_view place = place_of(name);
  return place.substr(0, place.rfind(' '));
}

size_t num_on_own_host(const parallel::MpiWorld& world) {
  size_t count = 0;
  for (size_t rank = 0; rank < world.size(); ++rank) {
    if (host_of(world.name(rank)) == host_of(world.name(world.rank()))) ++count;
  }
  return count;
}

std::string text_of(const parallel::Layout& layout) {
  return fmt::format("borders {}, ratio {}, experts {}", fmt::join(layout.borders, ","),
                     fmt::join(layout.ratio, ":"), static_cast<int>(layout.experts));
}

}  // namespace

Result<RankPlan> ProcessPlacement::plan(const gguf::File& file) {
  ASSIGN_OR_RETURN(RankPlan plan, plan_alike(file, options_));
  for (size_t rank = 0; rank < plan.devices.size(); ++rank) {
    plan.devices[rank] = place_of(world_.name(rank));
  }
  return plan;
}

// Processes of one host share what is free there; that another takes its part meanwhile, each of
// them has to expect.
Result<Capacity> ProcessPlacement::capacity(const gguf::File& file, const RankPlan& plan,
                                            const Descriptions& descriptions, Weights weights) {
  if (weights == Weights::loaded) RETURN_IF_ERROR(wait_for_all());
  const size_t own_rank = world_.rank();
  const bool are_loaded = weights == Weights::loaded;
  const size_t free_bytes = device::cpu::available_memory_bytes() / num_on_own_host(world_);
  const MemoryPool own{
      .name = plan.devices[own_rank],
      .available_bytes = usable_memory(
          free_bytes,
          {.bytes_max = options_.memory_bytes_max,
           .taken_bytes = are_loaded ? model::weight_bytes(file, *descriptions[own_rank]) : 0,
           .reserved_bytes = own_rank == 0 ? options_.cache_memory_bytes : 0}),
      .ranks = {own_rank}};
  ASSIGN_OR_RETURN(const Capacity here, plan_memory(options_, file, descriptions, kv_type_, weights,
                                                    std::span(&own, 1)));
  if (!are_loaded) return here;
  return least_of_all(here);
}

// Until all have come here, however long it takes them.
Status ProcessPlacement::wait_for_all() {
  if (world_.rank() != 0) {
    RETURN_IF_ERROR(send_message(world_, 0, {}));
    RETURN_IF_ERROR(receive_message(world_, 0));
    return {};
  }
  for (size_t rank = 1; rank < world_.size(); ++rank) {
    RETURN_IF_ERROR(receive_message(world_, rank));
  }
  for (size_t rank = 1; rank < world_.size(); ++rank) {
    RETURN_IF_ERROR(send_message(world_, rank, {}));
  }
  return {};
}

// Process 0 hears what the others have room for, and tells all what that comes to.
Result<Capacity> ProcessPlacement::least_of_all(const Capacity& own) {
  const auto to_bytes = [](const Capacity& capacity) {
    return std::as_bytes(std::span(&capacity, 1));
  };
  const auto receive = [this](size_t from) -> Result<Capacity> {
    ASSIGN_OR_RETURN(const auto bytes, receive_message(world_, from));
    Capacity capacity;
    if (bytes.size() == sizeof(capacity)) std::memcpy(&capacity, bytes.data(), sizeof(capacity));
    return capacity;
  };
  if (world_.rank() != 0) {
    RETURN_IF_ERROR(send_message(world_, 0, to_bytes(own)));
    return receive(0);
  }
  Capacity least = own;
  for (size_t rank = 1; rank < world_.size(); ++rank) {
    ASSIGN_OR_RETURN(const Capacity other, receive(rank));
    least = engine::least_of(least, other);
  }
  for (size_t rank = 1; rank < world_.size(); ++rank) {
    RETURN_IF_ERROR(send_message(world_, rank, to_bytes(least)));
  }
  return least;
}

Status ProcessPlacement::agree(const gguf::File& file, const RankPlan& plan,
                               const device::Device& device) {
  return world_.agree({{"version", fmt::format("{} {}", kVersion, kCommit)},
                       {"model", model_identity(file)},
                       {"layout", text_of(plan.layout)},
                       {"arithmetic", device.info().cache_layout},
                       {"kv type", options_.kv_type},
                       {"context length", std::to_string(options_.context_length)},
                       {"number of answers", std::to_string(options_.max_sequences)},
                       {"prompt chunk", std::to_string(options_.prefill_chunk)}});
}

Result<RankSeats> ProcessPlacement::load(const std::shared_ptr<const gguf::File>& file,
                                         const RankPlan& plan,
                                         const model::LoadProgress& progress) {
  const size_t own_rank = world_.rank();
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(*file, plan.layout));
  RankSeats seats{.layout = plan.layout, .seats = {}};
  for (const std::string& place : plan.devices) {
    seats.seats.push_back({.device_name = place,
                           .num_threads = options_.num_threads,
                           .file = nullptr,
                           .device = nullptr,
                           .model = nullptr,
                           .times = nullptr});
  }
  RankSeat& own = seats.seats[own_rank];
  own.file = file;
  if (options_.timing) own.times = std::make_shared<WorkTimes>();
  ASSIGN_OR_RETURN(
      own.device, device::create_device(options_.parallel.devices[own_rank], options_.num_threads));
  RETURN_IF_ERROR(agree(*file, plan, *own.device));
  ASSIGN_OR_RETURN(own.model, model::load_model(*file, parts[own_rank], *own.device, progress));
  return seats;
}

Result<std::unique_ptr<Ranks>> ProcessPlacement::make(RankSeats seats,
                                                      const MakeRanksOptions& options) {
  const auto start = [this](const RankSeats& all, const RankTeam::Options& team) {
    return RankTeam::start(world_, all, team);
  };
  EngineOptions alone = options_;
  alone.parallel.devices = {options_.parallel.devices[0]};
  const auto fallback =
      [alone, own = seats.seats[0].device_name, file = seats.seats[0].file,
       memory = options.memory](const std::vector<std::string>& lost) -> Result<RankSeats> {
    const bool is_own_lost = std::ranges::find(lost, own) != lost.end();
    return load_without(is_own_lost ? alone.parallel.devices : std::vector<std::string>(), file,
                        alone, memory);
  };
  return ManyRanks::create(
      std::move(seats),
      {.team = {.memory = options.memory, .deadline = options.parallel.rank_deadline},
       .max_restarts = options.parallel.max_restarts,
       .fault = options.parallel.fault,
       .fallback = options.parallel.fallback ? ManyRanks::Fallback(fallback) : nullptr,
       .start = start});
}

Status run_process(parallel::MpiWorld& world, const EngineOptions& options) {
  ASSIGN_OR_RETURN(const device::KvType kv_type, check_load(options));
  ProcessPlacement placement(world, options, kv_type);
  ASSIGN_OR_RETURN(gguf::File opened, open_model_or_bundled(options.model));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  ASSIGN_OR_RETURN(const RankPlan plan, placement.plan(*file));
  ASSIGN_OR_RETURN(const Descriptions descriptions, describe(*file, plan));
  RETURN_IF_ERROR(placement.capacity(*file, plan, descriptions, Weights::to_be_loaded));
  ASSIGN_OR_RETURN(const RankSeats seats, placement.load(file, plan, {}));
  ASSIGN_OR_RETURN(const Capacity capacity,
                   placement.capacity(*file, plan, descriptions, Weights::loaded));
  const parallel::CommOptions comm{.deadline = options.parallel.rank_deadline,
                                   .names = rank_names(seats.seats)};
  ASSIGN_OR_RETURN(auto comms, world.connect(plan.layout.grid(), comm));
  return serve_commands(world, {.rank = world.rank(),
                                .seat = seats.seats[world.rank()],
                                .comms = std::move(comms),
                                .memory = memory_plan(options, capacity, kv_type),
                                .comm = comm,
                                .fault = options.parallel.fault,
                                .gate = std::make_shared<parallel::HangGate>()});
}

}  // namespace evener::engine
