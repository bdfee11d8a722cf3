#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cache/residency.h"
#include "cache/tiers.h"
#include "engine/generation.h"
#include "engine/parallel_options.h"
#include "engine/ranks_report.h"
#include "engine/work_report.h"
#include "gguf/file.h"
#include "model/config.h"
#include "sched/scheduler.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

struct EngineOptions {
  std::filesystem::path model = {};  // empty: the bundled model
  ParallelOptions parallel = {};
  size_t num_threads = 0;  // of each CPU device; 0: one per physical core
  // Longest sequence. 0: the model's own, or what memory allows. More than the model's own is cut
  // to that; if it does not fit into memory, loading fails.
  size_t context_length = 0;
  size_t max_sequences = 16;    // running at once
  size_t prefill_chunk = 512;   // prompt rows a step
  std::string kv_type = "f16";  // a name of device/kv_type.h
  size_t memory_bytes_max = 0;  // 0: what the machine has
  bool timing = false;          // sums up what the time goes into

  // Prompts beside answers: docs/scheduling.md. At most max_gap between two tokens of an answer
  // while prompts are read; or, if it is set, at most max_prefill_steps prompt steps.
  std::chrono::milliseconds max_gap{400};
  double decode_share = 0;  // of the time, for answers alone while prompts are read; below 1
  std::optional<size_t> max_prefill_steps = {};
  std::chrono::milliseconds prefill_deadline{5000};  // from one turn of a prompt to its next
  size_t max_queued = 1024;                          // waiting beside those who run
  std::chrono::milliseconds queue_timeout{0};        // 0: who waits waits for ever

  bool prefix_cache = true;              // equal beginnings are computed once
  size_t cache_memory_bytes = 0;         // for what the pools have no place for any more
  std::filesystem::path cache_dir = {};  // the same on disk, across restarts; empty: none
  uint64_t cache_disk_bytes = uint64_t{16} << 30;
};

// What start-up is doing. fraction is of the phase, 0..1.
struct LoadState {
  enum class Phase { map, pack, warm, ready } phase = Phase::map;
  double fraction = 0;
};
// Returning false ends the loading: create() then fails with Code::cancelled.
using LoadObserver = std::function<bool(const LoadState&)>;

struct LoadTimes {
  std::chrono::duration<double> map{};
  std::chrono::duration<double> pack{};
  std::chrono::duration<double> warm{};
};

struct ModelFacts {
  std::string id;  // file name without .gguf, or "evener-tiny35" for the bundled one
  std::string name;
  std::string family;
  std::string quantisation;  // most used weight type: "Q8_0"
  std::string kv_type;       // "f16"
  std::string device;        // "cpu:0 (AMD EPYC, 2 cores, AVX2)"
  std::string hash;          // tells models apart: see model_identity.h
  size_t num_parameters = 0;
  size_t file_bytes = 0;
  size_t vocab_size = 0;
  size_t trained_context = 0;  // of the model
  size_t admissible_tokens =
      0;  // prompt and output together that one request may take: what is really admitted
  // What keeps it from being more.
  enum class ContextLimit { model, option, memory } context_limit = ContextLimit::model;
  size_t pool_tokens = 0;  // that all sequences and what is kept of ended ones share
  size_t max_sequences = 0;
  std::string chat_template;  // the file's own; may be empty
  LoadTimes load_times;
};

// Counters since start and gauges, all consistent with each other.
struct Stats {
  size_t running = 0;
  size_t waiting = 0;
  uint64_t requests = 0;
  uint64_t prompt_tokens = 0;
  uint64_t generated_tokens = 0;
  uint64_t cancelled = 0;
  uint64_t refused = 0;           // no place in the queue, or none in time
  double cancel_seconds_max = 0;  // from cancel() to all being free
  uint64_t steps = 0;
  double step_seconds = 0;
  sched::SchedulerStats scheduler;
  cache::CacheStats cache;
  std::optional<cache::TierStats> tiers;  // none: there are no tiers
  RanksReport ranks;
};

struct LoadedModel;  // engine/load.h

// A running model: sequences in, updates out. Owns the step loop's thread. All methods are safe
// from any thread.
class Engine {
 public:
  // Loads the model (this takes a while and reports to `observer` from the calling thread) and
  // starts the loop. Errors: as gguf, model and tokenizer; out_of_memory with the sum, before
  // loading; cancelled if observer's owner asked for it through request_stop.
  static Result<std::unique_ptr<Engine>> create(const EngineOptions& options,
                                                const LoadObserver& observer);

  // Starts the loop over what load() has made by these options.
  static std::unique_ptr<Engine> create(std::unique_ptr<LoadedModel> loaded,
                                        const EngineOptions& options);

  // Cancels what runs, with a last update for each, and joins the loop.
  ~Engine();

  // Queues a sequence. Errors: context_overflow (the prompt leaves no room
  // for one token; message as serving/api.md 10), invalid_argument (empty prompt, id out of range,
  // parameter out of range), unavailable (draining, or the queue is full).
  Result<SequenceId> submit(GenerationRequest request, Sink sink);

  // Ends a sequence within one step and frees what it holds. Unknown or finished ids are ignored.
  void cancel(SequenceId id);

  // Forgets what was computed for requests that have ended, but not what the tiers hold.
  void flush_cache();

  // Accepts nothing more, waits until what was submitted before has finished, at most `patience`,
  // then cancels the rest. Returns when all is quiet. Not to be called from a sink.
  void drain(std::chrono::milliseconds patience);

  // What the destructor does; nothing is accepted any more. Returns what the time since loading
  // went into, if EngineOptions::timing asked for it. Once, and not from a sink.
  std::optional<WorkReport> stop();

  const ModelFacts& facts() const;
  const EngineOptions& options() const;  // as create() was given them
  const tokenizer::Tokenizer& tokenizer() const;
  Stats stats() const;

 private:
  class Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace evener::engine
