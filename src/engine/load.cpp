#include "engine/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "device/cpu/memory_limit.h"
#include "device/create_device.h"
#include "device/timed_device.h"
#include "engine/bundled_model.h"
#include "engine/model_identity.h"
#include "engine/open_model.h"
#include "engine/rank.h"
#include "engine/solo_ranks.h"
#include "engine/warm_up.h"
#include "gguf/summary.h"
#include "model/loader.h"

namespace evener::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Phase = LoadState::Phase;

constexpr size_t kMaxSequences = 1024;
constexpr size_t kMaxPrefillChunk = 8192;
constexpr size_t kMaxContext = INT32_MAX;  // positions are 32 bits wide

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

Result<gguf::File> open_file(const EngineOptions& options) {
  if (!options.model.empty()) return open_model(options.model);
  return gguf::File::parse(bundled_model(), std::string(kBundledModelName));
}

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

model::MemoryPlan memory_plan(const EngineOptions& options, const Capacity& capacity,
                              device::KvType kv_type) {
  return {.num_rows = options.prefill_chunk + capacity.max_sequences,
          .num_logit_rows = kPromptLogitRows + capacity.max_sequences,
          .num_pages = capacity.num_pages,
          .page_size = kPageSize,
          .num_slots = capacity.num_slots,
          .kv_type = kv_type};
}

size_t difference(size_t a, size_t b) { return a - std::min(a, b); }

// The machine is not only ours, and its free memory is an estimate. `taken_bytes` of what we may
// use is in use already.
size_t usable_memory(const EngineOptions& options, size_t taken_bytes) {
  const size_t free_bytes = device::cpu::available_memory_bytes();
  const size_t usable =
      options.memory_bytes_max == 0
          ? free_bytes / 10 * 9
          : std::min(difference(options.memory_bytes_max, taken_bytes), free_bytes);
  return difference(usable, options.cache_memory_bytes);
}

enum class Weights { to_be_loaded, loaded };

// Before the weights are loaded it is a plan, by their size; after it, by what is left.
Result<Capacity> plan(const EngineOptions& options, const gguf::File& file, model::Model& model,
                      device::KvType kv_type, Weights weights) {
  const bool are_loaded = weights == Weights::loaded;
  const model::Config& config = model.config();
  const size_t model_context = std::min(std::max<size_t>(config.context_length, 1), kMaxContext);
  const bool named = options.context_length > 0;
  const model::MemoryPlan largest = memory_plan(
      options, {.num_pages = 1, .num_slots = 1, .max_sequences = options.max_sequences}, kv_type);
  const device::KvCacheShape kv_cache = model::kv_cache_shape(config, largest);
  RETURN_IF_ERROR(kv_cache.check());
  const size_t scratch_floats = model.scratch_floats(largest.num_rows, largest.num_logit_rows);
  const size_t host_logits = largest.num_logit_rows * config.vocab_size;
  // What loading takes is given back before scratch is allocated.
  const size_t scratch_bytes = (scratch_floats + host_logits) * sizeof(float) +
                               model::routing_shape(config, largest).bytes();
  const size_t weight_bytes = model::weight_bytes(file, model);
  return plan_capacity({
      .where = file.name(),
      .weight_bytes = are_loaded ? 0 : weight_bytes,
      .scratch_bytes =
          are_loaded ? scratch_bytes : std::max(scratch_bytes, model::loading_bytes(file, model)),
      .bytes_per_page = kv_cache.bytes_per_page(),
      .bytes_per_slot = config.num_recurrent_layers() == 0
                            ? 0
                            : model::state_cache_shape(config, largest).bytes_per_slot(),
      .page_size = kPageSize,
      .context_length = named ? std::min(options.context_length, model_context) : model_context,
      .context_is_must = named,
      .max_sequences = options.max_sequences,
      .available_bytes = usable_memory(options, are_loaded ? weight_bytes : 0),
  });
}

ModelFacts::ContextLimit context_limit(const Capacity& capacity, const ModelFacts& facts) {
  if (capacity.limit == LengthLimit::memory) return ModelFacts::ContextLimit::memory;
  const bool is_shorter = capacity.admissible_tokens < facts.trained_context;
  return is_shorter ? ModelFacts::ContextLimit::option : ModelFacts::ContextLimit::model;
}

// Null: nobody wants any.
std::unique_ptr<cache::Tiers> open_tiers(const EngineOptions& options,
                                         const std::string& model_hash,
                                         const device::Device& device) {
  if (!options.prefix_cache) return nullptr;
  if (options.cache_memory_bytes == 0 && options.cache_dir.empty()) return nullptr;
  const std::string identity = fmt::format("{} page {} kv {} layout {} rank 0 of 1", model_hash,
                                           kPageSize, options.kv_type, device.info().cache_layout);
  return cache::Tiers::create({.memory_bytes_max = options.cache_memory_bytes,
                               .disk = {.folder = options.cache_dir,
                                        .bytes_max = options.cache_disk_bytes,
                                        .identity = identity}},
                              {});
}

Status check_options(const EngineOptions& options) {
  if (options.parallel.devices.size() != 1) {
    return refuse("devices", fmt::format("{} are named, and a model runs on one as yet",
                                         options.parallel.devices.size()));
  }
  RETURN_IF_ERROR(check_between("max_sequences", options.max_sequences, kMaxSequences));
  return check_between("prefill_chunk", options.prefill_chunk, kMaxPrefillChunk);
}

}  // namespace

Result<std::unique_ptr<LoadedModel>> load(const EngineOptions& options,
                                          const LoadObserver& observer) {
  RETURN_IF_ERROR(check_options(options));
  ASSIGN_OR_RETURN(const device::KvType kv_type, kv_type_of(options));
  Phases phases(observer);
  LoadTimes times;

  RETURN_IF_ERROR(phases.begin(Phase::map));
  ASSIGN_OR_RETURN(gguf::File file, open_file(options));
  ASSIGN_OR_RETURN(auto tokenizer, open_tokenizer(file));
  ASSIGN_OR_RETURN(const auto description, model::describe_model(file));
  RETURN_IF_ERROR(check_vocabulary(file, *tokenizer, description->config()));
  RETURN_IF_ERROR(plan(options, file, *description, kv_type, Weights::to_be_loaded));
  ASSIGN_OR_RETURN(auto device,
                   device::create_device(options.parallel.devices.at(0), options.num_threads));
  auto work_times = options.timing ? std::make_unique<WorkTimes>() : nullptr;
  if (work_times) device = device::time_device(std::move(device), *work_times);
  ModelFacts facts = facts_of(options, file, description->config());
  times.map = phases.elapsed();

  RETURN_IF_ERROR(phases.begin(Phase::pack));
  const auto progress = [&phases](size_t done, size_t total) {
    return phases.report(Phase::pack, static_cast<double>(done) / static_cast<double>(total));
  };
  ASSIGN_OR_RETURN(auto model, model::load_model(file, *device, progress));
  ASSIGN_OR_RETURN(const Capacity capacity, plan(options, file, *model, kv_type, Weights::loaded));
  ASSIGN_OR_RETURN(auto memory, model::RankMemory::create(*device, *model,
                                                          memory_plan(options, capacity, kv_type)));
  times.pack = phases.elapsed();

  RETURN_IF_ERROR(phases.begin(Phase::warm));
  auto ranks = std::make_unique<SoloRanks>(
      Rank(*device, *model, parallel::RankComms::solo(), std::move(memory)));
  RETURN_IF_ERROR(
      warm_up(*ranks, {.num_rows = std::min(options.prefill_chunk, capacity.admissible_tokens),
                       .has_state = capacity.num_slots > 0}));
  ranks->reset_expert_uses();
  if (work_times) work_times->restart();
  times.warm = phases.elapsed();

  facts.hash = model_identity(file);  // what it reads, here and there, has been read in order
  auto tiers = open_tiers(options, facts.hash, *device);
  facts.kv_type = options.kv_type;
  facts.device = fmt::format("{} ({})", device->info().name, device->info().description);
  facts.admissible_tokens = capacity.admissible_tokens;
  facts.context_limit = context_limit(capacity, facts);
  facts.pool_tokens = capacity.num_pages * kPageSize;
  facts.max_sequences = capacity.max_sequences;
  facts.load_times = times;
  phases.report(Phase::ready, 1);
  return std::make_unique<LoadedModel>(LoadedModel{.file = std::move(file),
                                                   .tokenizer = std::move(tokenizer),
                                                   .times = std::move(work_times),
                                                   .device = std::move(device),
                                                   .model = std::move(model),
                                                   .ranks = std::move(ranks),
                                                   .tiers = std::move(tiers),
                                                   .capacity = capacity,
                                                   .facts = std::move(facts)});
}

}  // namespace evener::engine
