#include "serve/generation_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "serve/usage.h"

namespace evener::serve {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<ApiError> check_length(const GenerationJob::Parts& parts) {
  const size_t limit = parts.call.service->generator->facts().admissible_tokens;
  for (const auto& request : parts.requests) {
    if (request.prompt.size() >= limit) return prompt_too_long(request.prompt.size(), limit);
  }
  return std::nullopt;
}

const char* name_of(AbortReason reason) {
  switch (reason) {
    case AbortReason::client_gone:
      return "client_gone";
    case AbortReason::reader_too_slow:
      return "reader_too_slow";
    case AbortReason::server_stopping:
      return "server_stopping";
  }
  return "";
}

}  // namespace

// The handler is there before the sequences are: a client that left meanwhile costs no step.
void GenerationJob::start(Parts parts) {
  if (const auto error = check_length(parts)) return parts.call.fail(*error);
  const RouteCall call = parts.call;
  auto job = std::make_shared<GenerationJob>(std::move(parts));
  call.answers.add({.answer_id = job->parts_.writer->id(),
                    .request_id = call.exchange->request().id,
                    .owner = call.caller.salt},
                   job);
  call.exchange->on_abort([job](AbortReason reason) { job->abort(reason); });
  call.exchange->post([job] { job->submit_all(); });
}

GenerationJob::GenerationJob(Parts parts)
    : parts_(std::move(parts)), sequences_(parts_.requests.size()) {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    sequences_[i].num_prompt_tokens = parts_.requests[i].prompt.size();
  }
}

void GenerationJob::submit_all() {
  if (state_ == State::ended) return;
  state_ = State::queued;
  for (size_t choice = 0; choice < sequences_.size(); ++choice) {
    if (!submit(choice)) return;
  }
  parts_.requests.clear();
  parts_.writer->begin();
}

bool GenerationJob::submit(size_t choice) {
  auto sink = [job = shared_from_this(), choice](engine::Update update) {
    job->parts_.call.exchange->post(
        [job, choice, update = std::move(update)] { job->receive(choice, update); });
  };
  auto id =
      parts_.call.service->generator->submit(std::move(parts_.requests[choice]), std::move(sink));
  if (!id) {
    sequences_[choice].ended = true;
    fail(engine_error(id.error()));
    return false;
  }
  sequences_[choice].id = *id;
  return true;
}

void GenerationJob::receive(size_t choice, const engine::Update& update) {
  Sequence& sequence = sequences_[choice];
  if (state_ == State::ended || sequence.ended) return;
  observe(sequence, update);
  if (update.finish == engine::FinishReason::failed ||
      update.finish == engine::FinishReason::cancelled) {
    sequence.ended = true;
    return fail(update.error ? engine_error(*update.error)
                             : overloaded("the server is stopping; the answer is not complete"));
  }
  parts_.writer->update(choice, update);
  if (!update.finish) return;
  sequence.ended = true;
  parts_.call.metrics.count_match_end(match_end_name(update.match_end));
  if (++num_ended_ == sequences_.size()) complete();
}

// Whom the queue has refused may come again when a place should have become free: those who got one
// lately waited so long for it.
ApiError GenerationJob::engine_error(const Error& error) const {
  constexpr std::chrono::seconds kMin{1};
  constexpr std::chrono::seconds kMax{120};
  ApiError out = to_api_error(error);
  const auto wait = parts_.call.service->generator->stats().scheduler.usual_wait;
  out.retry_after = std::clamp(std::chrono::ceil<std::chrono::seconds>(wait), kMin, kMax);
  return out;
}

void GenerationJob::observe(Sequence& sequence, const engine::Update& update) {
  sequence.num_cached_tokens = update.num_cached_tokens;
  sequence.num_generated_tokens = update.num_generated_tokens;
  sequence.timing = update.timing;
  if (state_ == State::queued && update.num_prefilled_tokens > 0) state_ = State::prefill;
  if (update.tokens.empty()) return;
  Metrics& metrics = parts_.call.metrics;
  const auto now = Clock::now();
  if (state_ != State::decode) {
    state_ = State::decode;
    metrics.observe(Metrics::Time::first_token, now - started_);
    metrics.observe(Metrics::Time::queue, update.timing.queued);
    metrics.observe(Metrics::Time::prefill, update.timing.prefill);
  }
  if (sequence.last_token) {
    metrics.observe(Metrics::Time::token_gap, now - *sequence.last_token);
  }
  sequence.last_token = now;
}

void GenerationJob::complete() {
  parts_.call.metrics.observe(Metrics::Time::whole_request, Clock::now() - started_);
  end("");
  parts_.writer->finish();
}

void GenerationJob::abort(AbortReason reason) {
  if (state_ == State::ended) return;
  count_cancellation(name_of(reason));
  if (reason == AbortReason::server_stopping) {
    return fail(overloaded("the server is stopping; the answer is not complete"));
  }
  end(name_of(reason));
}

void GenerationJob::abort_by_request() {
  parts_.call.exchange->post([job = shared_from_this()] {
    if (job->state_ == State::ended) return;
    job->count_cancellation("abort");
    job->fail(request_aborted());
  });
}

void GenerationJob::count_cancellation(std::string_view reason) {
  constexpr const char* kPhases[] = {"template", "queue", "prefill", "decode"};
  parts_.call.metrics.count_cancellation(kPhases[static_cast<size_t>(state_)], reason);
}

void GenerationJob::fail(const ApiError& error) {
  end(error.code);
  parts_.call.metrics.count_error(error);
  parts_.call.exchange->fail(error);
}

// `how` is empty for a complete answer.
void GenerationJob::end(std::string_view how) {
  state_ = State::ended;
  parts_.call.answers.remove(*this);
  for (Sequence& sequence : sequences_) {
    if (!sequence.ended && sequence.id) parts_.call.service->generator->cancel(*sequence.id);
    sequence.ended = true;
  }
  note(how);
}

// Sums of the tokens; of the times the longest.
void GenerationJob::note(std::string_view how) {
  Sequence all;
  for (const Sequence& sequence : sequences_) {
    all.num_prompt_tokens += sequence.num_prompt_tokens;
    all.num_cached_tokens += sequence.num_cached_tokens;
    all.num_generated_tokens += sequence.num_generated_tokens;
    all.timing.queued = std::max(all.timing.queued, sequence.timing.queued);
    all.timing.prefill = std::max(all.timing.prefill, sequence.timing.prefill);
    all.timing.decode = std::max(all.timing.decode, sequence.timing.decode);
    all.timing.gap_max = std::max(all.timing.gap_max, sequence.timing.gap_max);
  }
  parts_.call.exchange->note(fmt::format(
      "prompt={} cached={} generated={} queue={:.1f}ms prefill={:.1f}ms decode={:.1f}ms "
      "gap={:.1f}ms{}{}",
      all.num_prompt_tokens, all.num_cached_tokens, all.num_generated_tokens,
      all.timing.queued.count() * 1000, all.timing.prefill.count() * 1000,
      all.timing.decode.count() * 1000, all.timing.gap_max.count() * 1000,
      how.empty() ? "" : " ended: ", how));
}

}  // namespace evener::serve
