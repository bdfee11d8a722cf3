#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/chat_template.h"
#include "serve/generator.h"
#include "serve/service.h"

namespace evener::serve {

// A model whose tokens are bytes (ids 0..255) and whose answers a test speaks itself. Sequences
// count from 1 in the order of their submission.
class FakeGenerator : public Generator {
 public:
  FakeGenerator();

  Result<engine::SequenceId> submit(engine::GenerationRequest request, engine::Sink sink) override;
  void cancel(engine::SequenceId id) override;
  void flush_cache() override { ++num_flushes_; }
  const engine::ModelFacts& facts() const override { return facts_; }
  const engine::EngineOptions& options() const override { return options_; }
  engine::Stats stats() const override { return stats_; }
  std::vector<TokenId> tokenize(std::string_view text, TokenizeOptions options) const override;
  bool ends_turn(TokenId id) const override { return id == '>'; }
  std::string token_bytes(TokenId id) const override;
  std::string detokenize(std::span<const TokenId> ids) const override;

  // One step's text; a token for each byte of `tokens` (default: of the text).
  void say(engine::SequenceId id, std::string text);
  void say(engine::SequenceId id, std::string text, const std::string& tokens);
  void read_prompt(engine::SequenceId id, std::vector<engine::TokenOutput> prompt_tokens);
  void wait_in_queue(engine::SequenceId id, size_t num_ahead);
  // The sequence runs; of its prompt, `num_cached` tokens need not be computed, and up to
  // `num_prefilled` have been read.
  void read_some(engine::SequenceId id, size_t num_cached, size_t num_prefilled);
  void finish(engine::SequenceId id, engine::FinishReason reason = engine::FinishReason::stop);
  void fail(engine::SequenceId id, Error error);

  // The requests so far; waits until there are that many, or cancellations.
  engine::GenerationRequest request(engine::SequenceId id);
  size_t num_requests();
  void wait_for_requests(size_t count);
  void wait_for_cancellation(engine::SequenceId id);
  bool was_cancelled(engine::SequenceId id);

  // What a server may own of it: passes everything on. Must not outlive this.
  std::unique_ptr<Generator> borrowed();

  engine::ModelFacts facts_;
  engine::EngineOptions options_;
  engine::Stats stats_;
  std::atomic<int> num_flushes_ = 0;
  bool refuses_ = false;  // submit() answers unavailable

 private:
  struct Sequence {
    engine::GenerationRequest request;
    engine::Sink sink;
    engine::Update so_far;  // counters; a test that does not say otherwise has read the prompt
    bool cancelled = false;
  };
  void send(engine::SequenceId id, engine::Update update);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sequence> sequences_;
};

// "<role>content</role>..." and "<assistant>" behind it; knows tools and system messages.
chat::ChatTemplate plain_template();
// The same, and the answer begins inside <think>.
chat::ChatTemplate thinking_template();

// A service of a borrowed `generator`.
ServicePtr make_service(FakeGenerator& generator, chat::ChatTemplate chat_template);

}  // namespace evener::serve
