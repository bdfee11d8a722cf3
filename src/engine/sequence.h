#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/answer_text.h"
#include "engine/generation.h"
#include "engine/rank_pass.h"
#include "sample/logprobs.h"
#include "sample/sampler.h"
#include "sched/scheduler.h"
#include "tokenizer/tokenizer.h"

namespace evener::engine {

// One token stream from its prompt to its last update: what was said so far, how the next token is
// chosen, when it ends and what its owner is told. It knows neither pages nor the batch.
//
// Made on the submitter's thread, then used by the step loop's alone.
class Sequence {
 public:
  using Clock = std::chrono::steady_clock;

  struct Parts {
    SequenceId id = 0;
    GenerationRequest request;  // checked; prompt and max_new_tokens fit the admissible length
    Sink sink;
    const tokenizer::Tokenizer* tokenizer = nullptr;  // outlives the sequence
    size_t vocab_size = 0;
  };
  explicit Sequence(Parts parts);

  SequenceId id() const { return parts_.id; }
  // It arrived when it was submitted, in time since `start`.
  sched::Arrival arrival(Clock::time_point start) const;
  std::span<const TokenId> tokens() const { return tokens_; }  // prompt, then what was generated
  int priority() const { return parts_.request.priority; }
  bool finished() const { return update_.finish.has_value(); }

  // It waits behind `num_ahead` others.
  void waits(size_t num_ahead) { update_.num_ahead = num_ahead; }

  // It has a place. `match`: what of its tokens need not be computed.
  void is_admitted(const cache::Match& match, Clock::time_point now);

  // Prompt tokens up to position_end have been read. `logits` [tokens read, vocab] are theirs, or
  // empty unless prompt_logprobs was asked for. After the sequence has lost its place, tokens come
  // by again, those of its own answer too.
  void read_prompt(size_t first_position, size_t position_end, std::span<const float> logits);

  // False: the next token is the best one, as far as is known now.
  bool needs_logits() const;

  // Chooses the next token by the last of the rows. May finish the sequence.
  void generate(const ResultRows& rows, sample::Workspace& workspace);

  void cancel() { finish(FinishReason::cancelled); }
  void fail(Error error);

  // Tells the sink what has come since the last time.
  void deliver(Clock::time_point now);

 private:
  bool ends_at(TokenId id) const;
  std::span<const TokenId> forbidden() const;
  Result<TokenId> choose(const ResultRows& rows, sample::Workspace& workspace);
  void accept(TokenId id);
  void finish(FinishReason reason);
  TokenOutput describe(TokenId id, const sample::Logprobs* logprobs) const;
  TokenLogprob scored(TokenId id, const sample::Logprobs* logprobs) const;
  Timing timing(Clock::time_point now) const;

  Parts parts_;
  sample::Sampler sampler_;
  AnswerText text_;
  std::vector<TokenId> ends_;    // tokens that end the answer
  std::vector<TokenId> tokens_;  // prompt, then generated
  std::vector<TokenOutput> prompt_outputs_;
  size_t num_prefilled_ = 0;

  Clock::time_point submitted_;
  std::optional<Clock::time_point> started_;
  std::optional<Clock::time_point> first_token_;
  Clock::time_point last_token_;
  Clock::duration gap_max_{};

  Update update_;  // of the running step
};

}  // namespace evener::engine
