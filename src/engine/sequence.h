#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/answer_text.h"
#include "engine/generation.h"
#include "sample/logprobs.h"
#include "sample/sampler.h"
#include "sched/first_come.h"
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
  sched::first_come::Arrival arrival() const;
  std::span<const TokenId> tokens() const { return tokens_; }  // prompt, then what was generated
  bool finished() const { return update_.finish.has_value(); }

  // A step that carries this sequence begins.
  void step_begins(Clock::time_point now);

  // Prompt tokens up to position_end have been read. `logits` [tokens read, vocab] are theirs, or
  // empty unless prompt_logprobs was asked for.
  void read_prompt(size_t first_position, size_t position_end, std::span<const float> logits);

  // Chooses the next token from logits [vocab]. May finish the sequence.
  void generate(std::span<const float> logits, sample::Workspace& workspace);

  void cancel() { finish(FinishReason::cancelled); }

  // Tells the sink what has come since the last time.
  void deliver(Clock::time_point now);

 private:
  bool ends_at(TokenId id) const;
  std::span<const TokenId> forbidden() const;
  void accept(TokenId id);
  void finish(FinishReason reason);
  void fail(Error error);
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

  Update update_;  // of the running step
};

}  // namespace evener::engine
