#include "engine/sequence.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "sample/arg_max.h"

namespace evener::engine {
namespace {

std::vector<TokenId> end_tokens(const GenerationRequest& request,
                                const tokenizer::Tokenizer& tokenizer, size_t vocab_size) {
  std::vector<TokenId> ends = request.stop_token_ids;
  if (request.ignore_eos) return ends;
  for (const TokenId id : tokenizer.eog_tokens()) {
    if (static_cast<size_t>(id) < vocab_size) ends.push_back(id);
  }
  return ends;
}

sample::PieceOf piece_of(const tokenizer::Tokenizer& tokenizer) {
  return [&tokenizer](TokenId id) { return tokenizer.piece(id); };
}

}  // namespace

Sequence::Sequence(Parts parts)
    : parts_(std::move(parts)),
      sampler_(parts_.request.sampling, parts_.request.prompt, piece_of(*parts_.tokenizer)),
      text_(*parts_.tokenizer, parts_.request),
      ends_(end_tokens(parts_.request, *parts_.tokenizer, parts_.vocab_size)),
      tokens_(std::move(parts_.request.prompt)),
      submitted_(Clock::now()) {
  update_.id = parts_.id;
  update_.num_prompt_tokens = tokens_.size();
}

sched::Arrival Sequence::arrival(Clock::time_point start) const {
  const GenerationRequest& request = parts_.request;
  return {.newcomer = {.id = parts_.id,
                       .tokens = tokens_,
                       .salt = request.salt,
                       .session = request.session,
                       .message_ends = request.message_ends},
          .num_new_tokens_max = request.max_new_tokens,
          .prompt_logits = request.prompt_logprobs,
          .client = request.client,
          .priority = request.priority,
          .arrived = submitted_ - start};
}

void Sequence::is_admitted(const cache::Match& match, Clock::time_point now) {
  update_.num_ahead.reset();
  if (started_) return;  // it was before, and what it computed itself is not a hit
  started_ = now;
  update_.num_cached_tokens = match.num_tokens;
  update_.match_end = match.end;
  num_prefilled_ = match.num_tokens;
}

void Sequence::read_prompt(size_t first_position, size_t position_end,
                           std::span<const float> logits) {
  const bool knew_prompt = num_prefilled_ == update_.num_prompt_tokens;
  num_prefilled_ = std::min(std::max(num_prefilled_, position_end), update_.num_prompt_tokens);
  if (knew_prompt) return;
  if (prompt_outputs_.empty() && !logits.empty()) {
    prompt_outputs_.push_back(describe(tokens_[0], nullptr));  // nothing came before it
  }
  // Each row speaks about the token behind it.
  const size_t num_rows = logits.size() / parts_.vocab_size;
  for (size_t row = 0; row < num_rows; ++row) {
    const size_t position = first_position + row + 1;
    if (position == update_.num_prompt_tokens) break;
    if (position < prompt_outputs_.size()) continue;
    const auto row_logits = logits.subspan(row * parts_.vocab_size, parts_.vocab_size);
    if (!sample::arg_max(row_logits)) {
      return fail(sample::no_finite_logit("prompt token", position));
    }
    const sample::Logprobs logprobs(row_logits);
    prompt_outputs_.push_back(describe(tokens_[position], &logprobs));
  }
  if (num_prefilled_ < update_.num_prompt_tokens) return;
  update_.prompt_tokens = std::move(prompt_outputs_);
  if (parts_.request.max_new_tokens == 0) finish(FinishReason::length);
}

bool Sequence::needs_logits() const {
  return sampler_.needs_logits() || parts_.request.num_top_logprobs || !forbidden().empty();
}

Result<TokenId> Sequence::choose(const ResultRows& rows, sample::Workspace& workspace) {
  if (rows.best_tokens.empty()) {
    return sampler_.choose(rows.logits.last(parts_.vocab_size), forbidden(), workspace);
  }
  EVENER_ASSERT(!needs_logits());
  return sampler_.choose_best(rows.best_tokens.back());
}

void Sequence::generate(const ResultRows& rows, sample::Workspace& workspace) {
  auto token = choose(rows, workspace);
  if (!token) return fail(std::move(token).error());
  if (parts_.request.num_top_logprobs) {
    const sample::Logprobs logprobs(rows.logits.last(parts_.vocab_size));
    update_.tokens.push_back(describe(*token, &logprobs));
  } else {
    update_.tokens.push_back(describe(*token, nullptr));
  }
  accept(*token);
}

std::span<const TokenId> Sequence::forbidden() const {
  if (update_.num_generated_tokens < parts_.request.min_new_tokens) return ends_;
  return {};
}

bool Sequence::ends_at(TokenId id) const { return std::ranges::find(ends_, id) != ends_.end(); }

void Sequence::accept(TokenId id) {
  sampler_.accept(id);
  tokens_.push_back(id);
  ++update_.num_generated_tokens;
  if (ends_at(id)) return finish(FinishReason::stop);
  auto [text, stopped] = text_.push(id);
  update_.text += text;
  if (stopped) {
    update_.finish = FinishReason::stop;
  } else if (update_.num_generated_tokens == parts_.request.max_new_tokens) {
    finish(FinishReason::length);
  }
}

void Sequence::finish(FinishReason reason) {
  update_.text += text_.finish();
  update_.finish = reason;
}

void Sequence::fail(Error error) {
  finish(FinishReason::failed);
  update_.error = std::move(error);
}

TokenOutput Sequence::describe(TokenId id, const sample::Logprobs* logprobs) const {
  TokenOutput output{.chosen = scored(id, logprobs), .top = {}};
  if (logprobs == nullptr) return output;
  for (const TokenId best : logprobs->likeliest(parts_.request.num_top_logprobs.value_or(0))) {
    output.top.push_back(scored(best, logprobs));
  }
  return output;
}

TokenLogprob Sequence::scored(TokenId id, const sample::Logprobs* logprobs) const {
  return {.id = id,
          .bytes = std::string(parts_.tokenizer->piece(id)),
          .logprob = logprobs == nullptr ? 0 : logprobs->of(id)};
}

Timing Sequence::timing(Clock::time_point now) const {
  if (!started_) return {.queued = now - submitted_};
  if (!first_token_) {
    return {.queued = *started_ - submitted_, .prefill = now - *started_};
  }
  return {.queued = *started_ - submitted_,
          .prefill = *first_token_ - *started_,
          .decode = now - *first_token_,
          .gap_max = gap_max_};
}

void Sequence::deliver(Clock::time_point now) {
  EVENER_ASSERT(parts_.sink);
  if (!update_.tokens.empty()) {
    if (first_token_) gap_max_ = std::max(gap_max_, now - last_token_);
    if (!first_token_) first_token_ = now;
    last_token_ = now;
  }
  update_.num_prefilled_tokens = num_prefilled_;
  update_.timing = timing(now);
  Update next;
  next.id = update_.id;
  next.num_prompt_tokens = update_.num_prompt_tokens;
  next.num_cached_tokens = update_.num_cached_tokens;
  next.match_end = update_.match_end;
  next.num_generated_tokens = update_.num_generated_tokens;
  const bool last = finished();
  parts_.sink(std::exchange(update_, std::move(next)));
  if (last) parts_.sink = nullptr;
}

}  // namespace evener::engine
