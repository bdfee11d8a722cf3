// What was computed for one request serves the next, and nobody can tell by the answer: greedy
// tokens are those of an engine that computes every prompt from its beginning.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "engine/engine.h"
#include "engine/models.h"

namespace evener::engine {
namespace {

using Tokens = std::vector<TokenId>;

Tokens random_tokens(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Tokens tokens(count);
  for (TokenId& token : tokens) token = static_cast<TokenId>(random() % 300);
  return tokens;
}

Tokens joined(Tokens tokens, const Tokens& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

// Plain attention, recurrent layers beside it, recurrent layers and experts.
class PrefixCache : public testing::TestWithParam<const char*> {
 protected:
  EngineOptions options() const {
    EngineOptions options = small_options(GetParam());
    options.context_length = 512;
    return options;
  }

  // The answer of an engine that keeps nothing.
  Tokens expected(const Tokens& prompt, size_t num_new) {
    if (!cold_) {
      EngineOptions cold = options();
      cold.prefix_cache = false;
      cold_ = start(cold);
    }
    const Answer answer = generate(*cold_, greedy(prompt, num_new));
    EXPECT_EQ(answer.last.num_cached_tokens, 0U);
    EXPECT_EQ(answer.last.match_end, cache::MatchEnd::disabled);
    return answer.tokens;
  }

  // Checks the answer and returns how many tokens of the prompt were not computed again.
  size_t cached(Engine& engine, const Tokens& prompt, size_t num_new = 8) {
    const Answer answer = generate(engine, greedy(prompt, num_new));
    EXPECT_EQ(answer.tokens, expected(prompt, num_new));
    return answer.last.num_cached_tokens;
  }

 private:
  std::unique_ptr<Engine> cold_;
};

TEST_P(PrefixCache, TheSamePromptAgainIsAHit) {
  const auto engine = start(options());
  const Tokens prompt = random_tokens(300, 1);
  EXPECT_EQ(cached(*engine, prompt), 0U);
  EXPECT_EQ(cached(*engine, prompt), 256U) << "the grid point before the last token";
  EXPECT_EQ(engine->stats().cache.num_hits, 1U);
}

TEST_P(PrefixCache, AChatComputesWhatIsNewInEachTurn) {
  const auto engine = start(options());
  Tokens chat = random_tokens(90, 2);
  size_t known = 0;
  for (unsigned turn = 0; turn < 5; ++turn) {
    const Answer answer = generate(*engine, greedy(chat, 20));
    EXPECT_EQ(answer.tokens, expected(chat, 20)) << "turn " << turn;
    EXPECT_EQ(answer.last.num_cached_tokens, known / 64 * 64) << "turn " << turn;
    // The last token was chosen, and never read.
    known = chat.size() + answer.tokens.size() - 1;
    chat = joined(joined(chat, answer.tokens), random_tokens(60, 100 + turn));
  }
}

TEST_P(PrefixCache, SiblingsShareTheirBeginning) {
  const auto engine = start(options());
  const Tokens trunk = random_tokens(320, 3);
  EXPECT_EQ(cached(*engine, joined(trunk, random_tokens(100, 4))), 0U);
  cached(*engine, joined(trunk, random_tokens(100, 5)));  // leaves a state where they part
  EXPECT_EQ(cached(*engine, joined(trunk, random_tokens(100, 6))), 320U);
}

TEST_P(PrefixCache, UnequalSaltsShareNothing) {
  const auto engine = start(options());
  const Tokens prompt = random_tokens(200, 7);
  GenerationRequest request = greedy(prompt, 4);
  for (const uint64_t salt : {1U, 2U}) {
    request.salt = salt;
    EXPECT_EQ(generate(*engine, request).last.num_cached_tokens, 0U);
  }
  EXPECT_EQ(generate(*engine, request).last.num_cached_tokens, 192U);
}

TEST_P(PrefixCache, FlushingForgets) {
  const auto engine = start(options());
  const Tokens prompt = random_tokens(200, 8);
  cached(*engine, prompt);
  engine->flush_cache();
  EXPECT_EQ(cached(*engine, prompt), 0U);
}

TEST_P(PrefixCache, PromptLogprobsAreComputedNotGuessed) {
  const auto engine = start(options());
  const Tokens prompt = random_tokens(200, 9);
  cached(*engine, prompt);
  GenerationRequest request = greedy(prompt, 2);
  request.prompt_logprobs = true;
  request.num_top_logprobs = 0;
  const Answer answer = generate(*engine, request);
  EXPECT_EQ(answer.last.num_cached_tokens, 0U);
  EXPECT_EQ(answer.prompt_outputs.size(), prompt.size());
}

// Pools so small that each chat pushes others out.
TEST_P(PrefixCache, EvictionChangesNoAnswer) {
  EngineOptions small = options();
  small.context_length = 256;
  small.max_sequences = 2;  // eight pages
  const auto engine = start(small);
  std::vector<Tokens> prompts;
  for (unsigned i = 0; i < 6; ++i) prompts.push_back(random_tokens(130 + 10 * i, 20 + i));
  for (unsigned round = 0; round < 3; ++round) {
    for (const Tokens& prompt : prompts) cached(*engine, prompt, 20);
  }
  EXPECT_GT(engine->stats().cache.pages_evicted, 0U);
}

TEST_P(PrefixCache, WhatWasEvictedComesBackFromMemory) {
  EngineOptions small = options();
  small.context_length = 256;
  small.max_sequences = 1;
  small.cache_memory_bytes = size_t{64} << 20;
  const auto engine = start(small);
  const Tokens prompt = random_tokens(200, 30);
  cached(*engine, prompt);
  for (unsigned i = 0; i < 4; ++i) cached(*engine, random_tokens(240, 31 + i));
  EXPECT_EQ(cached(*engine, prompt), 192U);
  EXPECT_GT(engine->stats().cache.pages_loaded, 0U);
}

TEST_P(PrefixCache, ARestartFindsItOnDisk) {
  const TemporaryFolder folder;
  EngineOptions with_disk = options();
  with_disk.cache_dir = folder.path();
  const Tokens prompt = random_tokens(300, 40);
  {
    const auto engine = start(with_disk);
    EXPECT_EQ(cached(*engine, prompt), 0U);
  }
  {
    const auto engine = start(with_disk);
    EXPECT_EQ(cached(*engine, prompt), 256U);
    EXPECT_GT(engine->stats().cache.pages_loaded + engine->stats().cache.states_loaded, 0U);
  }
  // Whatever another model or another type of cache computed is foreign.
  with_disk.kv_type = "fp8";
  const auto engine = start(with_disk);
  EXPECT_EQ(generate(*engine, greedy(prompt, 2)).last.num_cached_tokens, 0U);
  EXPECT_GT(engine->stats().tiers->disk.num_foreign, 0U);
}

TEST_P(PrefixCache, DamagedFilesAreComputedAnew) {
  const TemporaryFolder folder;
  EngineOptions with_disk = options();
  with_disk.cache_dir = folder.path();
  const Tokens prompt = random_tokens(300, 41);
  cached(*start(with_disk), prompt);
  size_t num_damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".evkv") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('x');
    file.put('y');
    ++num_damaged;
  }
  ASSERT_GT(num_damaged, 3U);
  cached(*start(with_disk), prompt);
}

TEST_P(PrefixCache, ACancelledPromptLeavesWhatItRead) {
  EngineOptions slow = options();
  slow.prefill_chunk = 64;
  const auto engine = start(slow);
  const Tokens prompt = random_tokens(480, 50);
  std::latch has_read(1);
  std::latch cancelled(1);
  Listener listener([&](const Update& update) {
    if (update.num_prefilled_tokens != 256 || update.finish) return;
    has_read.count_down();
    cancelled.wait();
  });
  const auto id = engine->submit(greedy(prompt, 5), listener.sink());
  ASSERT_TRUE(id.has_value());
  has_read.wait();
  engine->cancel(*id);
  cancelled.count_down();
  EXPECT_EQ(listener.wait().finish, FinishReason::cancelled);
  EXPECT_GE(cached(*engine, prompt), 256U);
}

// More answers than the pool can hold: some are sent back and go on later.
TEST_P(PrefixCache, RetractionChangesNoAnswer) {
  EngineOptions tight = options();
  tight.context_length = 512;
  tight.max_sequences = 4;
  // Room for one context and a bit: what four answers need at most is four times that.
  tight.memory_bytes_max = 0;
  auto probe = Engine::create(tight, {});
  ASSERT_TRUE(probe.has_value());
  const size_t most = 4'000'000;
  for (tight.memory_bytes_max = 400'000; tight.memory_bytes_max < most;
       tight.memory_bytes_max += 50'000) {
    tight.context_length = 512;
    if (auto engine = Engine::create(tight, {}); engine && (*engine)->facts().max_sequences >= 3) {
      break;
    }
  }
  ASSERT_LT(tight.memory_bytes_max, most);
  const auto engine = start(tight);
  ASSERT_LT(engine->facts().pool_tokens, 3 * 512U);
  std::vector<Listener> listeners(3);
  std::vector<Tokens> prompts;
  for (unsigned i = 0; i < 3; ++i) {
    prompts.push_back(random_tokens(40 + i, 60 + i));
    ASSERT_TRUE(engine->submit(greedy(prompts[i], 400), listeners[i].sink()).has_value());
  }
  for (unsigned i = 0; i < 3; ++i) {
    const Answer& answer = listeners[i].wait();
    EXPECT_EQ(answer.tokens, expected(prompts[i], 400)) << i;
    EXPECT_EQ(answer.last.num_cached_tokens, 0U) << "its own work is no hit";
  }
  EXPECT_GT(engine->stats().scheduler.num_retractions, 0U);
}

INSTANTIATE_TEST_SUITE_P(Models, PrefixCache, testing::Values("llama", "qwen35", "qwen35moe"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}  // namespace evener::engine
