#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/load.h"
#include "engine/request_check.h"
#include "engine/step_loop.h"

namespace evener::engine {

class Engine::Impl {
 public:
  Impl(std::unique_ptr<LoadedModel> loaded, const EngineOptions& options)
      : loaded_(std::move(loaded)),
        options_(options),
        loop_(*loaded_->ranks, loaded_->tiers.get(), loop_options(*loaded_, options)) {}

  Result<SequenceId> submit(GenerationRequest request, Sink sink);

  std::optional<WorkReport> stop();

  const LoadedModel& loaded() const { return *loaded_; }
  const EngineOptions& options() const { return options_; }
  StepLoop& loop() { return loop_; }

 private:
  // What moving a state costs, by its size.
  static double state_pages(const Ranks& ranks) {
    if (ranks.page_bytes() == 0) return 1;
    return static_cast<double>(ranks.state_bytes()) / static_cast<double>(ranks.page_bytes());
  }

  static StepLoop::Options loop_options(const LoadedModel& loaded, const EngineOptions& options) {
    return {.scheduler = {.max_sequences = loaded.capacity.max_sequences,
                          .prefill_chunk = options.prefill_chunk,
                          .prompt_logit_rows = kPromptLogitRows,
                          .page_size = kPageSize,
                          .state_pages = state_pages(*loaded.ranks),
                          .max_gap = options.max_gap,
                          .decode_share = options.decode_share,
                          .prefill_deadline = options.prefill_deadline,
                          .max_prefill_steps = options.max_prefill_steps,
                          .max_queued = options.max_queued,
                          .queue_timeout = options.queue_timeout.count() == 0
                                               ? sched::Duration::max()
                                               : sched::Duration(options.queue_timeout)},
            .residency = {.page_size = kPageSize,
                          .num_pages = loaded.capacity.num_pages,
                          .num_state_slots = loaded.capacity.num_slots,
                          .reuse = options.prefix_cache},
            .vocab_size = loaded.facts.vocab_size,
            .times = loaded.times.get(),
            .when_down = loaded.when_down};
  }

  std::unique_ptr<LoadedModel> loaded_;
  const EngineOptions options_;
  StepLoop loop_;
};

Result<SequenceId> Engine::Impl::submit(GenerationRequest request, Sink sink) {
  const ModelFacts& facts = loaded_->facts;
  RETURN_IF_ERROR(check(
      request, {.vocab_size = facts.vocab_size, .admissible_tokens = facts.admissible_tokens}));
  request.max_new_tokens =
      std::min(request.max_new_tokens, facts.admissible_tokens - request.prompt.size());
  const SequenceId id = loop_.next_id();
  RETURN_IF_ERROR(
      loop_.submit(std::make_unique<Sequence>(Sequence::Parts{.id = id,
                                                              .request = std::move(request),
                                                              .sink = std::move(sink),
                                                              .tokenizer = loaded_->tokenizer.get(),
                                                              .vocab_size = facts.vocab_size})));
  return id;
}

std::optional<WorkReport> Engine::Impl::stop() {
  loop_.stop();
  if (!loaded_->times) return std::nullopt;
  WorkReport report;
  report.expert_uses = loaded_->ranks->expert_uses();  // when all ranks have done what they had to
  loaded_->times->stop();
  for (const RankTimes& rank : loaded_->rank_times) rank.times->stop();
  report.times = *loaded_->times;
  report.ranks = loaded_->rank_times;
  return report;
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::create(const EngineOptions& options,
                                               const LoadObserver& observer) {
  ASSIGN_OR_RETURN(auto loaded, load(options, observer));
  return std::unique_ptr<Engine>(new Engine(std::make_unique<Impl>(std::move(loaded), options)));
}

std::unique_ptr<Engine> Engine::create(std::unique_ptr<LoadedModel> loaded,
                                       const EngineOptions& options) {
  return std::unique_ptr<Engine>(new Engine(std::make_unique<Impl>(std::move(loaded), options)));
}

Result<SequenceId> Engine::submit(GenerationRequest request, Sink sink) {
  return impl_->submit(std::move(request), std::move(sink));
}

void Engine::cancel(SequenceId id) { impl_->loop().cancel(id); }

void Engine::flush_cache() { impl_->loop().flush_cache(); }

void Engine::drain(std::chrono::milliseconds patience) { impl_->loop().drain(patience); }

std::optional<WorkReport> Engine::stop() { return impl_->stop(); }

const ModelFacts& Engine::facts() const { return impl_->loaded().facts; }

const EngineOptions& Engine::options() const { return impl_->options(); }

const tokenizer::Tokenizer& Engine::tokenizer() const { return *impl_->loaded().tokenizer; }

Stats Engine::stats() const { return impl_->loop().stats(); }

}  // namespace evener::engine
