#include "engine/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "engine/bundled_model.h"
#include "engine/load_fallback.h"
#include "engine/load_memory.h"
#include "engine/load_ranks.h"
#include "engine/model_identity.h"
#include "engine/open_model.h"
#include "engine/placement.h"
#include "engine/process_placement.h"
#include "engine/warm_up.h"
#include "gguf/summary.h"
#include "model/loader.h"

namespace evener::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Phase = LoadState::Phase;

constexpr size_t kMaxSequences = 1024;
constexpr size_t kMaxPrefillChunk = 8192;

Error refuse(std::string_view option, std::string why) {
  return Error{.code = Code::invalid_argument,
               .doing = "load model",
               .where = std::string(option),
               .why = std::move(why),
               .remedy = {}};
}

Status check_between(std::string_view option, size_t value, size_t max) {
  if (value >= 1 && value <= max) return {};
  return refuse(option, fmt::format("must be between 1 and {}, not {}", max, value));
}

Result<device::KvType> kv_type_of(const EngineOptions& options) {
  if (const auto type = device::kv_type_from_name(options.kv_type)) return *type;
  return refuse("kv_type", fmt::format("'{}' is none of f32, f16, q8_0 and fp8",
                                       printable(options.kv_type, 40)));
}

// Tells the observer, and the time of each phase. Cancelled when the observer says so.
class Phases {
 public:
  explicit Phases(const LoadObserver& observer) : observer_(observer) {}

  bool report(Phase phase, double fraction) const {
    return !observer_ || observer_({.phase = phase, .fraction = fraction});
  }

  Status begin(Phase phase) {
    begin_ = Clock::now();
    if (report(phase, 0)) return {};
    return Error{.code = Code::cancelled,
                 .doing = "load model",
                 .where = {},
                 .why = "interrupted",
                 .remedy = {}};
  }

  std::chrono::duration<double> elapsed() const { return Clock::now() - begin_; }

 private:
  const LoadObserver& observer_;
  Clock::time_point begin_ = Clock::now();
};

// "NAME.gguf" and "NAME-00001-of-00003.gguf" are NAME.
std::string id_of(const EngineOptions& options) {
  if (options.model.empty()) return std::string(kBundledModelName);
  // "folder/" has no name behind its last slash.
  const bool is_named = options.model.has_filename();
  std::string id = (is_named ? options.model : options.model.parent_path()).filename().string();
  if (id.ends_with(".gguf")) id.resize(id.size() - 5);
  const size_t of = id.rfind("-of-");
  if (of != std::string::npos && of >= 6 && id.size() == of + 9 && id[of - 6] == '-') {
    id.resize(of - 6);
  }
  return id;
}

std::string quantisation_of(const gguf::Summary& summary) {
  if (summary.types.empty()) return "";
  return std::string(std::ranges::max(summary.types, {}, &gguf::TypeShare::num_parameters).name);
}

ModelFacts facts_of(const EngineOptions& options, const gguf::File& file,
                    const model::Config& config) {
  const gguf::Summary summary = gguf::summarise(file);
  ModelFacts facts;
  facts.id = id_of(options);
  facts.name = std::string(summary.name.value_or(""));
  facts.family = config.family;
  facts.quantisation = quantisation_of(summary);
  facts.num_parameters = summary.num_parameters;
  facts.file_bytes = file.size_bytes();
  facts.vocab_size = config.vocab_size;
  facts.trained_context = config.context_length;
  facts.chat_template = std::string(summary.chat_template.value_or(""));
  return facts;
}

// A vocabulary padded to a round number of rows is common; one that is too short is not.
Status check_vocabulary(const gguf::File& file, const tokenizer::Tokenizer& tokenizer,
                        const model::Config& config) {
  if (tokenizer.size() <= config.vocab_size) return {};
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = file.name(),
               .why = fmt::format("its tokenizer has {} tokens, its embedding only {} rows",
                                  tokenizer.size(), config.vocab_size),
               .remedy = {}};
}

ModelFacts::ContextLimit context_limit(const Capacity& capacity, const ModelFacts& facts) {
  if (capacity.limit == LengthLimit::memory) return ModelFacts::ContextLimit::memory;
  const bool is_shorter = capacity.admissible_tokens < facts.trained_context;
  return is_shorter ? ModelFacts::ContextLimit::option : ModelFacts::ContextLimit::model;
}

std::string text_of(const model::Range& range) {
  return fmt::format("{}+{}", range.begin, range.count);
}

std::string text_of(const model::Part& part) {
  std::string text =
      fmt::format("layers {} heads {} kv {} mlp {} keys {} experts {} {} shared {}",
                  text_of(part.layers), text_of(part.heads), text_of(part.kv_heads),
                  text_of(part.intermediate), text_of(part.key_heads), text_of(part.experts),
                  text_of(part.expert_intermediate), text_of(part.shared_intermediate));
  for (const model::Range& heads : part.value_heads) text += " values " + text_of(heads);
  return text;
}

// What was computed by ranks that are cut differently is other bytes.
std::string identity_of(const EngineOptions& options, const std::string& model_hash,
                        const RankSeats& seats, const Descriptions& descriptions) {
  std::string identity =
      fmt::format("{} page {} kv {} layout {} rank 0 of {}", model_hash, kPageSize, options.kv_type,
                  seats.seats[0].device->info().cache_layout, seats.seats.size());
  if (seats.seats.size() == 1) return identity;
  for (size_t rank = 0; rank < descriptions.size(); ++rank) {
    // Devices of other processes are agreed to be as this one's.
    const auto& device = (seats.seats[rank].device ? seats.seats[rank] : seats.seats[0]).device;
    identity +=
        fmt::format(", {} {}", device->info().cache_layout, text_of(descriptions[rank]->part()));
  }
  return identity;
}

// Null: nobody wants any.
std::unique_ptr<cache::Tiers> open_tiers(const EngineOptions& options, std::string identity) {
  if (!options.prefix_cache) return nullptr;
  if (options.cache_memory_bytes == 0 && options.cache_dir.empty()) return nullptr;
  return cache::Tiers::create({.memory_bytes_max = options.cache_memory_bytes,
                               .disk = {.folder = options.cache_dir,
                                        .bytes_max = options.cache_disk_bytes,
                                        .identity = std::move(identity)}},
                              {});
}

Status check_options(const EngineOptions& options) {
  RETURN_IF_ERROR(check_between("max_sequences", options.max_sequences, kMaxSequences));
  return check_between("prefill_chunk", options.prefill_chunk, kMaxPrefillChunk);
}

// "cpu:0 (AMD EPYC, 2 cores, AVX2)"; of several ranks how they share the model.
std::string device_text(const RankSeats& seats) {
  if (seats.seats.size() > 1) return layout_text(seats);
  const device::DeviceInfo& info = seats.seats[0].device->info();
  return fmt::format("{} ({})", info.name, info.description);
}

// With one rank its thread runs the steps as well, and both share one account.
void note_times(const RankSeats& seats, LoadedModel& loaded) {
  const RankSeat& first = seats.seats[0];
  if (!first.times) return;
  if (seats.seats.size() == 1) {
    loaded.times = first.times;
    return;
  }
  loaded.times = std::make_shared<WorkTimes>();
  loaded.rank_times = times_of(seats);
}

void restart_times(LoadedModel& loaded) {
  if (loaded.times) loaded.times->restart();
  for (const RankTimes& rank : loaded.rank_times) rank.times->restart();
}

MakeRanksOptions make_options(const EngineOptions& options,
                              const std::shared_ptr<const gguf::File>& file,
                              const model::MemoryPlan& memory) {
  const auto fallback = [=](const std::vector<std::string>& lost_devices) {
    return load_without(lost_devices, file, options, memory);
  };
  return {.memory = memory, .parallel = options.parallel, .fallback = fallback};
}

Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options, device::KvType kv_type,
                                          Placement& placement, const LoadObserver& observer) {
  Phases phases(observer);
  LoadTimes times;
  auto loaded = std::make_unique<LoadedModel>();

  RETURN_IF_ERROR(phases.begin(Phase::map));
  ASSIGN_OR_RETURN(gguf::File opened, open_model_or_bundled(options.model));
  const auto file = std::make_shared<const gguf::File>(std::move(opened));
  ASSIGN_OR_RETURN(loaded->tokenizer, open_tokenizer(*file));
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(*file));
  RETURN_IF_ERROR(check_vocabulary(*file, *loaded->tokenizer, config));
  ASSIGN_OR_RETURN(const RankPlan plan, placement.plan(*file));
  if (!plan.why.empty()) log::info("{}", plan.why);
  ASSIGN_OR_RETURN(const Descriptions descriptions, describe(*file, plan));
  RETURN_IF_ERROR(placement.capacity(*file, plan, descriptions, Weights::to_be_loaded));
  loaded->facts = facts_of(options, *file, config);
  times.map = phases.elapsed();

  RETURN_IF_ERROR(phases.begin(Phase::pack));
  const auto progress = [&phases](size_t done, size_t total) {
    return phases.report(Phase::pack, static_cast<double>(done) / static_cast<double>(total));
  };
  ASSIGN_OR_RETURN(RankSeats seats, placement.load(file, plan, progress));
  ASSIGN_OR_RETURN(loaded->capacity,
                   placement.capacity(*file, plan, descriptions, Weights::loaded));
  const model::MemoryPlan memory = memory_plan(options, loaded->capacity, kv_type);
  ModelFacts& facts = loaded->facts;
  facts.hash = model_identity(*file);  // what it reads, here and there, has been read in order
  facts.device = device_text(seats);
  if (seats.seats.size() > 1) log::info("{} ranks: {}", seats.seats.size(), facts.device);
  const std::string identity = identity_of(options, facts.hash, seats, descriptions);
  note_times(seats, *loaded);
  ASSIGN_OR_RETURN(loaded->ranks,
                   placement.make(std::move(seats), make_options(options, file, memory)));
  times.pack = phases.elapsed();

  RETURN_IF_ERROR(phases.begin(Phase::warm));
  const Capacity& capacity = loaded->capacity;
  RETURN_IF_ERROR(warm_up(*loaded->ranks,
                          {.num_rows = std::min(options.prefill_chunk, capacity.admissible_tokens),
                           .has_state = capacity.num_slots > 0}));
  loaded->ranks->reset_expert_uses();
  restart_times(*loaded);
  times.warm = phases.elapsed();

  loaded->tiers = open_tiers(options, identity);
  facts.kv_type = options.kv_type;
  facts.admissible_tokens = capacity.admissible_tokens;
  facts.context_limit = context_limit(capacity, facts);
  facts.pool_tokens = capacity.num_pages * kPageSize;
  facts.max_sequences = capacity.max_sequences;
  facts.load_times = times;
  phases.report(Phase::ready, 1);
  return loaded;
}

}  // namespace

Result<device::KvType> check_load(const EngineOptions& options) {
  RETURN_IF_ERROR(check_options(options));
  return kv_type_of(options);
}

Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          const LoadObserver& observer) {
  ASSIGN_OR_RETURN(const device::KvType kv_type, check_load(options));
  return load(options, kv_type, *place_here(options, kv_type, {}), observer);
}

Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options, const RankPlan& plan,
                                          const LoadObserver& observer) {
  ASSIGN_OR_RETURN(const device::KvType kv_type, check_load(options));
  return load(options, kv_type, *place_here(options, kv_type, plan), observer);
}

Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          parallel::MpiWorld& processes,
                                          const LoadObserver& observer) {
  ASSIGN_OR_RETURN(const device::KvType kv_type, check_load(options));
  ProcessPlacement placement(processes, options, kv_type);
  return load(options, kv_type, placement, observer);
}

}  // namespace evener::engine
