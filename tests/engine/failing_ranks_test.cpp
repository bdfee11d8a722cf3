// The step loop over ranks that fail, and come back or do not. Judged here: who is told, who keeps
// waiting, and that the loop ends in every state.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "engine/listener.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "engine/step_loop.h"

namespace evener::engine {
namespace {

Error failure(Code code, std::string why) {
  return {.code = code, .doing = "compute", .where = "rank 1", .why = std::move(why), .remedy = {}};
}

// Ranks that say the same token for ever, until they fail.
class ScriptedRanks final : public Ranks {
 public:
  explicit ScriptedRanks(size_t vocab_size) : vocab_size_(vocab_size) {}

  size_t fails_at_pass = 0;          // counted from 1; 0: never
  std::optional<Error> stays_down;   // what restart() says
  bool waits_for_interrupt = false;  // in restart()
  size_t num_restarts = 0;
  std::mutex gate;  // held: passes do not end

  void wait_until_restarting() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_restarting_; });
  }

  size_t depth() const override { return 1; }
  void begin(const RankPass& pass) override {
    ++num_passes_;
    const size_t num_rows = pass.input.logit_rows.size();
    result_ = {};
    if (pass.wanted == Wanted::best_tokens) {
      result_.best_tokens.assign(num_rows, 5);
      return;
    }
    result_.logits.assign(num_rows * vocab_size_, 0);
    for (size_t row = 0; row < num_rows; ++row) result_.logits[row * vocab_size_ + 5] = 1;
  }
  Result<const PassResult*> end() override {
    const std::lock_guard pass_gate(gate);
    if (num_passes_ == fails_at_pass) return failure(Code::unavailable, "has ended");
    return &result_;
  }
  void clear_state(int32_t) override {}
  void copy_state(int32_t, int32_t) override {}
  size_t page_bytes() const override { return 64; }
  size_t state_bytes() const override { return 0; }
  void write_page(int32_t, std::span<const std::byte>) override {}
  void write_state(int32_t, std::span<const std::byte>) override {}
  Status read_page(int32_t, std::span<std::byte>) override { return {}; }
  Status read_state(int32_t, std::span<std::byte>) override { return {}; }
  std::vector<std::vector<uint64_t>> expert_uses() override { return {}; }
  void reset_expert_uses() override {}

  Result<Restart> restart() override {
    std::unique_lock lock(mutex_);
    ++num_restarts;
    is_restarting_ = true;
    changed_.notify_all();
    if (waits_for_interrupt) {
      changed_.wait(lock, [this] { return interrupted_; });
      return failure(Code::cancelled, "interrupted");
    }
    if (stays_down) return *stays_down;
    return Restart::same_layout;
  }
  RanksReport report() const override { return {}; }
  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }

 private:
  size_t vocab_size_;
  size_t num_passes_ = 0;
  PassResult result_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_restarting_ = false;
  bool interrupted_ = false;
};

class FailingRanks : public testing::Test {
 protected:
  static constexpr size_t kVocab = 512;

  FailingRanks() : ranks_(kVocab) {
    auto file = open_model(model_path("llama"));
    EXPECT_TRUE(file.has_value());
    tokenizer_ = *open_tokenizer(*file);
  }

  void start(size_t max_sequences) {
    loop_ = std::make_unique<StepLoop>(
        ranks_, nullptr,
        StepLoop::Options{.scheduler = {.max_sequences = max_sequences, .prefill_chunk = 64},
                          .residency = {.num_pages = 16},
                          .vocab_size = kVocab});
  }

  Status submit(Listener& listener, size_t max_new_tokens) {
    return loop_->submit(
        std::make_unique<Sequence>(Sequence::Parts{.id = loop_->next_id(),
                                                   .request = greedy({1, 2, 3}, max_new_tokens),
                                                   .sink = listener.sink(),
                                                   .tokenizer = tokenizer_.get(),
                                                   .vocab_size = kVocab}));
  }

  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  ScriptedRanks ranks_;
  std::unique_ptr<StepLoop> loop_;
};

TEST_F(FailingRanks, WhoRunsIsToldWhyAndWhoWaitsIsAnswered) {
  ranks_.fails_at_pass = 3;
  start(1);
  Listener running;
  Listener waiting;
  {
    const std::lock_guard hold(ranks_.gate);
    ASSERT_TRUE(submit(running, 8).has_value());
    ASSERT_TRUE(submit(waiting, 8).has_value());
  }
  EXPECT_EQ(running.wait().finish, FinishReason::failed);
  ASSERT_TRUE(running.wait().error.has_value());
  EXPECT_EQ(to_string(*running.wait().error), "cannot compute: rank 1: has ended");
  EXPECT_EQ(running.wait().error->code, Code::unavailable);
  EXPECT_EQ(waiting.wait().finish, FinishReason::length);
  EXPECT_EQ(waiting.wait().tokens.size(), 8U);
  EXPECT_EQ(waiting.wait().last.num_cached_tokens, 0U);
  EXPECT_EQ(ranks_.num_restarts, 1U);
  Listener later;
  ASSERT_TRUE(submit(later, 2).has_value());
  EXPECT_EQ(later.wait().finish, FinishReason::length);
}

TEST_F(FailingRanks, NothingThatWasComputedBeforeIsFoundAfterwards) {
  start(1);
  const auto read = [this] {
    Listener listener;
    EXPECT_TRUE(loop_
                    ->submit(std::make_unique<Sequence>(
                        Sequence::Parts{.id = loop_->next_id(),
                                        .request = greedy(std::vector<TokenId>(130, 7), 2),
                                        .sink = listener.sink(),
                                        .tokenizer = tokenizer_.get(),
                                        .vocab_size = kVocab}))
                    .has_value());
    return listener.wait();
  };
  ranks_.fails_at_pass = 8;  // four passes a prompt: three chunks and a token; then fewer
  EXPECT_EQ(read().last.num_cached_tokens, 0U);
  EXPECT_EQ(read().last.num_cached_tokens, 128U);
  Answer failed = read();
  while (failed.finish != FinishReason::failed) failed = read();
  EXPECT_EQ(read().last.num_cached_tokens, 0U);
  loop_->stop();
}

TEST_F(FailingRanks, RanksThatStayDownFailWhoWaitsAndWhoComes) {
  ranks_.fails_at_pass = 2;
  ranks_.stays_down = failure(Code::unavailable, "3 restarts in an hour");
  start(1);
  Listener running;
  Listener waiting;
  {
    const std::lock_guard hold(ranks_.gate);
    ASSERT_TRUE(submit(running, 8).has_value());
    ASSERT_TRUE(submit(waiting, 8).has_value());
  }
  EXPECT_EQ(running.wait().error->why, "has ended");
  EXPECT_EQ(waiting.wait().finish, FinishReason::failed);
  EXPECT_EQ(waiting.wait().error->why, "3 restarts in an hour");
  Listener later;
  const Status refused = submit(later, 8);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().why, "3 restarts in an hour");
  EXPECT_EQ(loop_->stats().running, 0U);
  EXPECT_EQ(loop_->stats().waiting, 0U);
}

TEST_F(FailingRanks, StoppingEndsARestartThatWaits) {
  ranks_.fails_at_pass = 2;
  ranks_.waits_for_interrupt = true;
  start(1);
  Listener running;
  Listener waiting;
  {
    const std::lock_guard hold(ranks_.gate);
    ASSERT_TRUE(submit(running, 8).has_value());
    ASSERT_TRUE(submit(waiting, 8).has_value());
  }
  ranks_.wait_until_restarting();
  loop_->stop();
  EXPECT_EQ(running.wait().finish, FinishReason::failed);
  EXPECT_EQ(waiting.wait().finish, FinishReason::cancelled);
}

}  // namespace
}  // namespace evener::engine
