#include "engine/process_placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "device/cpu/cpu_node.h"
#include "device/cpu/memory_limit.h"
#include "device/create_device.h"
#include "device/device_memory.h"
#include "engine/load.h"
#include "engine/load_fallback.h"
#include "engine/model_identity.h"
#include "engine/open_model.h"
#include "engine/program_identity.h"
#include "engine/serve_commands.h"

namespace evener::engine {
namespace {

using parallel::MpiWorld;

size_t num_on_own_host(const MpiWorld& world) {
  size_t count = 0;
  for (size_t rank = 0; rank < world.size(); ++rank) {
    if (world.host(rank) == world.host(world.rank())) ++count;
  }
  return count;
}

Status check_number(const MpiWorld& world, const ParallelOptions& options) {
  if (options.devices.size() != world.size()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "run one model in several processes",
                 .where = "--devices",
                 .why = fmt::format("{} devices are named, mpirun started {} processes",
                                    options.devices.size(), world.size()),
                 .remedy = "name one device for each process, or one that all hosts have"};
  }
  const Status fits = check_parallel(options);
  if (fits) return {};
  Error error = fits.error();
  if (error.where != "--devices") return error;
  error.where = fmt::format("mpirun -n {}", world.size());
  error.why += ", one for each process";
  error.remedy = "start one process for each stage and shard, or change --stages and --tp";
  return error;
}

constexpr const char* kExpertCuts[] = {"auto", "inside", "whole"};  // by parallel::ExpertCut

template <class T>
std::string list(const std::vector<T>& values, const char* separator) {
  return values.empty() ? "not named" : fmt::to_string(fmt::join(values, separator));
}

// The cpus that a device of this machine computes with; a card takes none for itself.
Result<std::vector<int>> cpus_of(const std::string& device) {
  ASSIGN_OR_RETURN(const device::DeviceName name, device::parse_device_name(device));
  if (name.kind != device::DeviceKind::cpu) return std::vector<int>();
  ASSIGN_OR_RETURN(const auto node, device::cpu::read_cpu_node(name.numa_node));
  return device::cpu::cores_of(node, name);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

std::vector<int> cpus_in(const std::vector<std::byte>& bytes) {
  std::vector<int> cpus(bytes.size() / sizeof(int));
  std::memcpy(cpus.data(), bytes.data(), cpus.size() * sizeof(int));
  return cpus;
}

bool have_common(const std::vector<int>& a, const std::vector<int>& b) {
  return std::ranges::any_of(a, [&](int cpu) { return std::ranges::find(b, cpu) != b.end(); });
}

}  // namespace

Status agree_on_options(MpiWorld& world, EngineOptions& options) {
  ASSIGN_OR_RETURN(std::string program, program_identity());
  ParallelOptions& parallel = options.parallel;
  const std::string ratio = parallel.measure_ratio ? "auto" : list(parallel.ratio, ":");
  RETURN_IF_ERROR(
      world.agree({{"program", std::move(program)},
                   {"--devices", list(parallel.devices, ",")},
                   {"--tp", std::to_string(parallel.num_shards)},
                   {"--stages", std::to_string(parallel.num_stages)},
                   {"--split", list(parallel.borders, ",")},
                   {"--ratio", ratio},
                   {"--experts", kExpertCuts[size_t(parallel.experts)]},
                   {"--rank-deadline", fmt::format("{} ms", parallel.rank_deadline.count())},
                   {"--kv", options.kv_type},
                   {"--ctx", std::to_string(options.context_length)},
                   {"--parallel", std::to_string(options.max_sequences)},
                   {"--chunk", std::to_string(options.prefill_chunk)}}));
  if (parallel.devices.size() == 1) parallel.devices.resize(world.size(), parallel.devices[0]);
  return check_number(world, parallel);
}

Result<RankPlan> ProcessPlacement::plan(const gguf::File& file) {
  ASSIGN_OR_RETURN(device_, device::create_device(own_device(), options_.num_threads));
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(file));
  RETURN_IF_ERROR(
      world_.agree({{"model", fmt::format("{} {}", config.family, model_identity(file))},
                    {"arithmetic", device_->info().cache_layout}}));
  RETURN_IF_ERROR(tell_of_shared_cores());
  ASSIGN_OR_RETURN(RankPlan plan, plan_alike(file, options_));
  for (size_t rank = 0; rank < plan.devices.size(); ++rank) {
    plan.devices[rank] = world_.place(rank);
  }
  return plan;
}

// It works, but slowly. What cores there are only the processes of a host together can see.
Status ProcessPlacement::tell_of_shared_cores() {
  ASSIGN_OR_RETURN(const std::vector<int> own, cpus_of(own_device()));
  ASSIGN_OR_RETURN(const auto cpus, world_.exchange(std::as_bytes(std::span(own))));
  for (size_t a = 0; a < cpus.size() && world_.rank() == 0; ++a) {
    for (size_t b = a + 1; b < cpus.size(); ++b) {
      if (world_.host(a) != world_.host(b)) continue;
      if (!have_common(cpus_in(cpus[a]), cpus_in(cpus[b]))) continue;
      log::warning(
          "{} and {} compute on the same cores: name some for each, as --devices "
          "cpu:0[0-3],cpu:0[4-7]",
          world_.name(a), world_.name(b));
      return {};
    }
  }
  return {};
}

// Of a card that processes of this host share: how many of them do.
Result<size_t> ProcessPlacement::num_on_own_card(const std::string& place) const {
  size_t count = 0;
  for (size_t rank = 0; rank < world_.size(); ++rank) {
    if (world_.host(rank) != world_.host(world_.rank())) continue;
    ASSIGN_OR_RETURN(const auto memory, device::device_memory(options_.parallel.devices[rank]));
    if (memory.place == place) ++count;
  }
  return count;
}

// Processes of one host share what is free there; that another takes its part meanwhile, each of
// them has to expect.
Result<device::DeviceMemory> ProcessPlacement::own_memory() const {
  ASSIGN_OR_RETURN(device::DeviceMemory memory, device::device_memory(own_device()));
  if (memory.is_of_host) {
    const size_t share = device::cpu::available_memory_bytes() / num_on_own_host(world_);
    memory.free_bytes = std::min(share, memory.free_bytes);
  } else {
    ASSIGN_OR_RETURN(const size_t count, num_on_own_card(memory.place));
    memory.free_bytes /= count;
  }
  return memory;
}

// Before the weights are loaded each looks whether its part has room; behind it, what all can hold
// is the least of what each can.
Result<Capacity> ProcessPlacement::capacity(const gguf::File& file, const RankPlan& plan,
                                            const Descriptions& descriptions, Weights weights) {
  const bool are_loaded = weights == Weights::loaded;
  if (are_loaded) RETURN_IF_ERROR(world_.exchange({}));  // until all have loaded
  const size_t own_rank = world_.rank();
  ASSIGN_OR_RETURN(const device::DeviceMemory memory, own_memory());
  const MemoryPool own{
      .name = plan.devices[own_rank],
      .available_bytes = usable_memory(
          memory,
          {.bytes_max = options_.memory_bytes_max,
           .taken_bytes = are_loaded ? model::weight_bytes(file, *descriptions[own_rank]) : 0,
           .reserved_bytes = own_rank == 0 ? options_.cache_memory_bytes : 0}),
      .ranks = {own_rank}};
  ASSIGN_OR_RETURN(Capacity least, plan_memory(options_, file, descriptions, kv_type_, weights,
                                               std::span(&own, 1)));
  if (!are_loaded) return least;
  ASSIGN_OR_RETURN(const auto all, world_.exchange(bytes_of(least)));
  for (const std::vector<std::byte>& bytes : all) {
    Capacity other;
    std::memcpy(&other, bytes.data(), std::min(bytes.size(), sizeof other));
    least = least_of(least, other);
  }
  return least;
}

Result<RankSeats> ProcessPlacement::load(const std::shared_ptr<const gguf::File>& file,
                                         const RankPlan& plan,
                                         const model::LoadProgress& progress) {
  const size_t own_rank = world_.rank();
  ASSIGN_OR_RETURN(const auto parts, model::cut_model(*file, plan.layout));
  RankSeats seats{.layout = plan.layout, .seats = std::vector<RankSeat>(world_.size())};
  for (size_t rank = 0; rank < world_.size(); ++rank) {
    seats.seats[rank].device_name = plan.devices[rank];
  }
  RankSeat& own = seats.seats[own_rank];
  own.num_threads = options_.num_threads;
  own.file = file;
  own.device = device_;
  if (options_.timing) own.times = std::make_shared<WorkTimes>();
  ASSIGN_OR_RETURN(own.model, model::load_model(*file, parts[own_rank], *own.device, progress));
  return seats;
}

Result<std::unique_ptr<Ranks>> ProcessPlacement::make(RankSeats seats,
                                                      const MakeRanksOptions& options) {
  RETURN_IF_ERROR(check_fault(options.parallel, seats.seats.size()));
  const auto start = [&world = world_](const RankSeats& all, const RankTeam::Options& team) {
    return RankTeam::start(world, all, team);
  };
  ManyRanks::Options many;
  many.team.memory = options.memory;
  many.team.deadline = options.parallel.rank_deadline;
  many.max_restarts = options.parallel.max_restarts;
  many.fault = options.parallel.fault;
  if (options.parallel.fallback) many.fallback = fallback(seats.seats[0].file, options.memory);
  many.start = start;
  return ManyRanks::create(std::move(seats), std::move(many));
}

// Process 0 alone: there is nobody to ask for another device.
ManyRanks::Fallback ProcessPlacement::fallback(const std::shared_ptr<const gguf::File>& file,
                                               const model::MemoryPlan& memory) const {
  EngineOptions alone = options_;
  alone.parallel.devices = {own_device()};
  return [alone, memory, file](const std::vector<std::string>&) {
    return load_without({}, file, alone, memory);
  };
}

Status run_process(MpiWorld& world, const EngineOptions& options) {
  ASSIGN_OR_RETURN(const device::KvType kv_type, check_load(options));
  ProcessPlacement placement(world, options, kv_type);
  ASSIGN_OR_RETURN(gguf::File opened, open_model_or_bundled(options.model));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  ASSIGN_OR_RETURN(const RankPlan plan, placement.plan(*file));
  ASSIGN_OR_RETURN(const Descriptions descriptions, describe(*file, plan));
  RETURN_IF_ERROR(placement.capacity(*file, plan, descriptions, Weights::to_be_loaded));
  const auto go_on = [&world](size_t, size_t) { return world.status().has_value(); };
  ASSIGN_OR_RETURN(const RankSeats seats, placement.load(file, plan, go_on));
  ASSIGN_OR_RETURN(const Capacity capacity,
                   placement.capacity(*file, plan, descriptions, Weights::loaded));
  RETURN_IF_ERROR(check_fault(options.parallel, world.size()));
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
