#include "serve/generation_job.h"

#include <fmt/format.h>

#include <utility>

namespace evener::serve {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<ApiError> check_length(const GenerationJob::Parts& parts) {
  const size_t limit = parts.service->generator->facts().admissible_tokens;
  for (const auto& request : parts.requests) {
    if (request.prompt.size() >= limit) return prompt_too_long(request.prompt.size(), limit);
  }
  return std::nullopt;
}

}  // namespace

void GenerationJob::start(Parts parts) {
  if (const auto error = check_length(parts)) {
    parts.metrics.count_error(*error);
    return parts.writer->fail(*error);
  }
  const ExchangePtr exchange = parts.exchange;
  auto job = std::make_shared<GenerationJob>(std::move(parts));
  exchange->post([job] { job->submit_all(); });
}

GenerationJob::GenerationJob(Parts parts)
    : parts_(std::move(parts)), sequences_(parts_.requests.size()) {}

void GenerationJob::submit_all() {
  for (size_t choice = 0; choice < sequences_.size(); ++choice) {
    if (!submit(choice)) return;
  }
  parts_.requests.clear();
  parts_.writer->begin();
  parts_.exchange->on_abort([job = shared_from_this()](AbortReason reason) { job->abort(reason); });
}

bool GenerationJob::submit(size_t choice) {
  auto sink = [job = shared_from_this(), choice](engine::Update update) {
    job->parts_.exchange->post(
        [job, choice, update = std::move(update)] { job->receive(choice, update); });
  };
  auto id = parts_.service->generator->submit(std::move(parts_.requests[choice]), std::move(sink));
  if (!id) {
    sequences_[choice].ended = true;
    fail(to_api_error(id.error()));
    return false;
  }
  sequences_[choice].id = *id;
  return true;
}

void GenerationJob::receive(size_t choice, const engine::Update& update) {
  if (state_ == State::ended || sequences_[choice].ended) return;
  observe(sequences_[choice], update);
  if (update.finish == engine::FinishReason::failed ||
      update.finish == engine::FinishReason::cancelled) {
    sequences_[choice].ended = true;
    return fail(update.error ? to_api_error(*update.error)
                             : overloaded("the server is stopping; the answer is not complete"));
  }
  parts_.writer->update(choice, update);
  if (update.finish) end_sequence(choice, update);
}

void GenerationJob::observe(Sequence& sequence, const engine::Update& update) {
  if (state_ == State::queued && update.num_prefilled_tokens > 0) state_ = State::prefill;
  if (update.tokens.empty()) return;
  const auto now = Clock::now();
  if (state_ != State::decode) {
    state_ = State::decode;
    parts_.metrics.observe(Metrics::Time::first_token, now - started_);
    parts_.metrics.observe(Metrics::Time::queue, update.timing.queued);
    parts_.metrics.observe(Metrics::Time::prefill, update.timing.prefill);
  }
  if (sequence.last_token) {
    parts_.metrics.observe(Metrics::Time::token_gap, now - *sequence.last_token);
  }
  sequence.last_token = now;
}

void GenerationJob::end_sequence(size_t choice, const engine::Update& update) {
  sequences_[choice].ended = true;
  num_prompt_tokens_ += update.num_prompt_tokens;
  num_generated_tokens_ += update.num_generated_tokens;
  timing_ = update.timing;
  if (++num_ended_ == sequences_.size()) complete();
}

void GenerationJob::complete() {
  state_ = State::ended;
  parts_.metrics.observe(Metrics::Time::whole_request, Clock::now() - started_);
  parts_.exchange->note(
      fmt::format("prompt={} generated={} queue={:.1f}ms prefill={:.1f}ms decode={:.1f}ms",
                  num_prompt_tokens_, num_generated_tokens_, timing_.queued.count() * 1000,
                  timing_.prefill.count() * 1000, timing_.decode.count() * 1000));
  parts_.writer->finish();
}

void GenerationJob::abort(AbortReason reason) {
  if (state_ == State::ended) return;
  if (reason == AbortReason::server_stopping) {
    return fail(overloaded("the server is stopping; the answer is not complete"));
  }
  constexpr const char* kPhases[] = {"queue", "prefill", "decode"};
  parts_.metrics.count_cancellation(kPhases[static_cast<size_t>(state_)]);
  state_ = State::ended;
  cancel_rest();
}

void GenerationJob::fail(const ApiError& error) {
  state_ = State::ended;
  cancel_rest();
  parts_.metrics.count_error(error);
  parts_.writer->fail(error);
}

void GenerationJob::cancel_rest() {
  for (Sequence& sequence : sequences_) {
    if (!sequence.ended && sequence.id) parts_.service->generator->cancel(*sequence.id);
    sequence.ended = true;
  }
}

}  // namespace evener::serve
