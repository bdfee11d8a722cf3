// The step loop over ranks that have several passes in flight. Judge: every token of every answer,
// against a model of hashes that knows no steps; with failures and cancels at every point.
#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "engine/late_ranks.h"
#include "engine/listener.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "engine/step_loop.h"

namespace evener::engine {
namespace {

constexpr size_t kVocab = 512;

std::vector<TokenId> tokens(unsigned seed, size_t count) {
  std::mt19937 random(seed);
  std::vector<TokenId> out(count);
  for (TokenId& token : out) token = static_cast<TokenId>(1 + random() % 90);
  return out;
}

std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class PipeTest : public testing::Test {
 protected:
  struct Setup {
    size_t depth = 3;
    size_t num_pages = 64;
    size_t num_slots = 0;
    bool has_tier = false;
  };

  PipeTest() {
    auto file = open_model(model_path("llama"));
    EXPECT_TRUE(file.has_value());
    tokenizer_ = *open_tokenizer(*file);
  }

  void start(const Setup& setup) {
    loop_.reset();
    setup_ = setup;
    asked_.clear();
    if (setup.has_tier)
      tiers_ = cache::Tiers::create({.memory_bytes_max = 64 << 20, .disk = {}}, {});
    ranks_ = std::make_unique<LateRanks>(LateRanks::Options{.depth = setup.depth,
                                                            .vocab_size = kVocab,
                                                            .num_pages = setup.num_pages,
                                                            .num_slots = setup.num_slots});
  }
  void begin() {
    loop_ = std::make_unique<StepLoop>(
        *ranks_, tiers_.get(),
        StepLoop::Options{
            .scheduler = {.max_sequences = 4, .prefill_chunk = 128},
            .residency = {.num_pages = setup_.num_pages, .num_state_slots = setup_.num_slots},
            .vocab_size = kVocab});
  }

  struct Asked {
    SequenceId id = 0;
    std::vector<TokenId> prompt;
    size_t num_tokens = 0;
    Listener listener;
  };
  Asked& submit(std::vector<TokenId> prompt, size_t num_tokens) {
    Asked& asked = asked_.emplace_back();
    asked.id = loop_->next_id();
    asked.prompt = std::move(prompt);
    asked.num_tokens = num_tokens;
    EXPECT_TRUE(loop_
                    ->submit(std::make_unique<Sequence>(
                        Sequence::Parts{.id = asked.id,
                                        .request = greedy(asked.prompt, num_tokens),
                                        .sink = asked.listener.sink(),
                                        .tokenizer = tokenizer_.get(),
                                        .vocab_size = kVocab}))
                    .has_value());
    return asked;
  }

  // What was said is right, and all of it unless something kept it from being so.
  FinishReason judge(Asked& asked) {
    const Answer& answer = asked.listener.wait();
    const auto right = answer_to(asked.prompt, asked.num_tokens, setup_.num_slots > 0);
    EXPECT_LE(answer.tokens.size(), right.size());
    EXPECT_TRUE(std::equal(answer.tokens.begin(), answer.tokens.end(), right.begin()));
    if (answer.finish == FinishReason::length) {
      EXPECT_EQ(answer.tokens.size(), right.size());
    } else if (answer.finish == FinishReason::failed) {
      EXPECT_EQ(answer.error->why, "has ended");
    }
    return *answer.finish;
  }

  // Prompts that share beginnings, of several chunks, and one that is short.
  void submit_some() {
    const std::vector<TokenId> beginning = tokens(1, 200);
    submit(beginning + tokens(2, 150), 12);
    submit(tokens(3, 5), 30);
    submit(beginning + tokens(4, 30), 12);
  }

  Setup setup_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<cache::Tiers> tiers_;
  std::unique_ptr<LateRanks> ranks_;
  std::deque<Asked> asked_;
  std::unique_ptr<StepLoop> loop_;
};

TEST_F(PipeTest, AnswersAreRightAtAnyDepth) {
  for (const size_t num_slots : {0U, 12U}) {
    for (const size_t depth : {1U, 2U, 3U, 4U}) {
      start({.depth = depth, .num_slots = num_slots});
      begin();
      submit_some();
      for (Asked& asked : asked_) EXPECT_EQ(judge(asked), FinishReason::length);
      submit_some();  // now from the cache
      for (Asked& asked : asked_) EXPECT_EQ(judge(asked), FinishReason::length);
      loop_->stop();
      EXPECT_EQ(ranks_->most_in_flight, depth);
      EXPECT_FALSE(ranks_->broke_contract);
    }
  }
}

TEST_F(PipeTest, PagesGoToTheTierAndComeBackWhileOthersAreInFlight) {
  for (const size_t num_slots : {0U, 5U}) {
    start({.num_pages = 12, .num_slots = num_slots, .has_tier = true});
    begin();
    for (int round = 0; round < 3; ++round) {
      submit_some();
      submit(tokens(7, 400), 9);
      for (Asked& asked : asked_) EXPECT_EQ(judge(asked), FinishReason::length);
    }
    EXPECT_GT(loop_->stats().tiers->num_memory_hits, 0U);
    loop_->stop();
    EXPECT_FALSE(ranks_->broke_contract);
  }
}

TEST_F(PipeTest, AFailureAtAnyPassEndsWhoRunsAndNothingElse) {
  for (const bool has_tier : {false, true}) {
    for (size_t pass = 1; pass <= 24; ++pass) {
      start({.num_pages = has_tier ? 12U : 64U, .num_slots = 8, .has_tier = has_tier});
      ranks_->fails_at_pass = pass;
      begin();
      submit_some();
      size_t num_failed = 0;
      for (Asked& asked : asked_) num_failed += judge(asked) == FinishReason::failed ? 1 : 0;
      EXPECT_GT(num_failed, 0U) << pass;
      asked_.clear();
      submit_some();
      for (Asked& asked : asked_) EXPECT_EQ(judge(asked), FinishReason::length) << pass;
      EXPECT_EQ(loop_->condition().state, StepLoop::Condition::State::serving);
      loop_->stop();
      EXPECT_EQ(ranks_->num_restarts, 1U);
      EXPECT_FALSE(ranks_->broke_contract);
    }
  }
}

TEST_F(PipeTest, ACancelAtAnyPassLeavesTheOthersRight) {
  for (size_t pass = 1; pass <= 24; ++pass) {
    for (const size_t victim : {0U, 1U, 2U}) {
      start({.num_pages = 12, .num_slots = 8});
      std::atomic<SequenceId> id = 0;
      ranks_->when_begins = [&](size_t number) {
        if (number == pass) loop_->cancel(id);
      };
      id = victim + 1;  // as next_id() counts
      begin();
      submit_some();
      for (size_t i = 0; i < asked_.size(); ++i) {
        const FinishReason end = judge(asked_[i]);
        EXPECT_TRUE(i == victim || end == FinishReason::length) << pass;
      }
      submit_some();
      for (size_t i = 3; i < asked_.size(); ++i) EXPECT_EQ(judge(asked_[i]), FinishReason::length);
      loop_->stop();
      EXPECT_FALSE(ranks_->broke_contract);
    }
  }
}

TEST_F(PipeTest, WhileRanksComeBackRequestsWaitAndCancelsWork) {
  start({});
  ranks_->fails_at_pass = 2;
  begin();
  std::unique_lock hold(ranks_->restart_gate);
  EXPECT_EQ(judge(submit(tokens(1, 10), 20)), FinishReason::failed);
  const StepLoop::Condition condition = loop_->condition();
  EXPECT_EQ(condition.state, StepLoop::Condition::State::restarting);
  EXPECT_EQ(condition.why->where, "rank 1");
  Asked& waits = submit(tokens(2, 10), 5);
  Asked& leaves = submit(tokens(3, 10), 5);
  loop_->cancel(leaves.id);
  EXPECT_EQ(judge(leaves), FinishReason::cancelled);
  hold.unlock();
  EXPECT_EQ(judge(waits), FinishReason::length);
  EXPECT_EQ(loop_->condition().state, StepLoop::Condition::State::serving);
}

TEST_F(PipeTest, StopsWithPassesInFlight) {
  start({.num_slots = 8, .has_tier = true});
  begin();
  Asked& asked = submit(tokens(1, 300), 3000);
  submit(tokens(2, 300), 3000);
  asked.listener.wait_for_tokens(3);
  loop_->stop();
  for (Asked& each : asked_) EXPECT_EQ(judge(each), FinishReason::cancelled);
  EXPECT_FALSE(ranks_->broke_contract);
}

TEST_F(PipeTest, SurvivesStrangers) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    start({.depth = 1 + seed % 4,
           .num_pages = 10 + random() % 20,
           .num_slots = seed % 3 == 0 ? 0U : 4 + random() % 6,
           .has_tier = seed % 2 == 0});
    if (seed % 5 == 0) ranks_->fails_at_pass = 1 + random() % 60;
    begin();
    const std::vector<TokenId> beginning = tokens(seed, 130);
    for (unsigned i = 0; i < 12; ++i) {
      const std::vector<TokenId> own = tokens(seed * 100 + i, 1 + random() % 250);
      Asked& asked = submit(random() % 2 == 0 ? beginning + own : own, 1 + random() % 60);
      if (random() % 4 == 0) asked.listener.wait_for_tokens(1 + random() % 5);
      if (random() % 4 == 0) loop_->cancel(asked.id);
    }
    for (Asked& asked : asked_) (void)judge(asked);
    loop_->stop();
    EXPECT_FALSE(ranks_->broke_contract) << seed;
    EXPECT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace evener::engine
