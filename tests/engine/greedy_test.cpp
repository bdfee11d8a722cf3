// Greedy decoding goes without logits on the host. Judged here: that it says what it says with
// them, alone and beside others, and who goes which way.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/create_device.h"
#include "engine/late_ranks.h"
#include "engine/mixed_requests.h"
#include "engine/models.h"
#include "engine/open_model.h"
#include "engine/rank_plans.h"
#include "engine/step_loop.h"

namespace evener::engine {
namespace {

const std::vector<TokenId> kGreedyPrompt = {10, 20, 30, 40, 50};

GenerationRequest through_logits(GenerationRequest request) {
  request.num_top_logprobs = 0;
  return request;
}

GenerationRequest sampled(GenerationRequest request) {
  request.sampling.temperature = 0.9F;
  request.sampling.seed = 7;
  return request;
}

class GreedyModels : public testing::TestWithParam<std::string> {};

TEST_P(GreedyModels, SayTheSameThroughLogitsTokenByToken) {
  const auto engine = start(small_options(GetParam()));
  std::mt19937 random(3);
  for (const size_t length : {1, 5, 70, 150}) {
    const GenerationRequest request =
        greedy(random_prompt(random, length, engine->facts().vocab_size), 40);
    const Answer expected = generate(*engine, through_logits(request));
    const Answer answer = generate(*engine, request);
    EXPECT_EQ(answer.tokens.size(), 40U);
    EXPECT_EQ(answer.tokens, expected.tokens) << length;
    EXPECT_EQ(answer.text, expected.text) << length;
  }
}

TEST_P(GreedyModels, SayTheSameBesideOneThatIsSampled) {
  const auto engine = start(small_options(GetParam()));
  const GenerationRequest requests[] = {greedy(kGreedyPrompt, 40),
                                        sampled(greedy(kGreedyPrompt, 25))};
  std::vector<Answer> alone;
  for (const GenerationRequest& request : requests) alone.push_back(generate(*engine, request));
  Listener listeners[2];
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(engine->submit(requests[i], listeners[i].sink()).has_value());
    listeners[i].wait_for_tokens(1);
  }
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(listeners[i].wait().tokens, alone[i].tokens) << i;
}

TEST_P(GreedyModels, SayTheSameOverRanks) {
  for (const parallel::Layout& layout :
       {parallel::Layout{.borders = {1}}, parallel::Layout{.ratio = {1, 1}}}) {
    const auto engine = start_over(small_options(GetParam()), plan_of(layout));
    const Answer expected = generate(*engine, through_logits(greedy(kGreedyPrompt, 30)));
    EXPECT_EQ(generate(*engine, greedy(kGreedyPrompt, 30)).tokens, expected.tokens);
  }
}

// Whatever adapter there is: a software one on most machines that build.
TEST_P(GreedyModels, SayTheSameOnACard) {
  EngineOptions options = small_options(GetParam());
  options.num_threads = 0;
  options.parallel.devices = {"vulkan:0"};
  const auto probe = device::create_device(options.parallel.devices[0], 0);
  if (!probe) GTEST_SKIP() << to_string(probe.error());
  const auto engine = start(options);
  const Answer expected = generate(*engine, through_logits(greedy(kGreedyPrompt, 30)));
  EXPECT_EQ(generate(*engine, greedy(kGreedyPrompt, 30)).tokens, expected.tokens);
}

INSTANTIATE_TEST_SUITE_P(Models, GreedyModels, testing::Values("llama", "qwen3", "qwen35"),
                         [](const auto& param) { return param.param; });

// What is wanted of the passes that somebody looks at, in their order.
class GreedyWays : public testing::Test {
 protected:
  static constexpr size_t kVocab = 512;

  std::vector<Wanted> wanted_for(std::vector<GenerationRequest> requests) {
    LateRanks ranks({.depth = 1, .vocab_size = kVocab, .num_pages = 16});
    const auto file = open_model(model_path("llama"));
    const auto tokenizer = *open_tokenizer(*file);
    std::vector<Listener> listeners(requests.size());
    std::latch all_are_there(1);
    ranks.when_begins = [&](size_t) { all_are_there.wait(); };
    {
      StepLoop loop(ranks, nullptr,
                    StepLoop::Options{.scheduler = {.max_sequences = 4, .prefill_chunk = 4},
                                      .residency = {.num_pages = 16},
                                      .vocab_size = kVocab});
      for (size_t i = 0; i < requests.size(); ++i) {
        auto sequence = std::make_unique<Sequence>(Sequence::Parts{.id = loop.next_id(),
                                                                   .request = requests[i],
                                                                   .sink = listeners[i].sink(),
                                                                   .tokenizer = tokenizer.get(),
                                                                   .vocab_size = kVocab});
        EXPECT_TRUE(loop.submit(std::move(sequence)).has_value());
      }
      all_are_there.count_down();
      for (Listener& listener : listeners) {
        EXPECT_EQ(listener.wait().finish, FinishReason::length);
      }
    }
    return ranks.wanted;
  }
  std::vector<Wanted> wanted_for(const std::function<void(GenerationRequest&)>& change) {
    GenerationRequest request = greedy(kGreedyPrompt, 4);
    change(request);
    return wanted_for(std::vector{request});
  }
};

const std::vector<Wanted> kFourLogits(4, Wanted::logits);
const std::vector<Wanted> kFourBest(4, Wanted::best_tokens);

TEST_F(GreedyWays, APlainGreedySequenceNeedsNoLogits) {
  EXPECT_EQ(wanted_for([](GenerationRequest&) {}), kFourBest);
  EXPECT_EQ(wanted_for([](GenerationRequest& request) {
              request.sampling.top_k = 3;  // cuts nothing at temperature 0
              request.sampling.top_p = 0.5F;
              request.sampling.min_p = 0.1F;
              request.stop = {"no such text"};
            }),
            kFourBest);
}

TEST_F(GreedyWays, WhoeverLooksAtLogitsGetsThem) {
  using Request = GenerationRequest;
  const std::function<void(Request&)> changes[] = {
      [](Request& request) { request.sampling.temperature = 0.5F; },
      [](Request& request) { request.sampling.repetition_penalty = 1.1F; },
      [](Request& request) { request.sampling.presence_penalty = 0.1F; },
      [](Request& request) { request.sampling.frequency_penalty = 0.1F; },
      [](Request& request) { request.sampling.dry_multiplier = 0.5F; },
      [](Request& request) { request.sampling.logit_bias = {{5, 0.1F}}; },
      [](Request& request) { request.num_top_logprobs = 0; },
  };
  for (const auto& change : changes) EXPECT_EQ(wanted_for(change), kFourLogits);
}

TEST_F(GreedyWays, OnlyAsLongAsItIsNeeded) {
  constexpr auto kLogits = Wanted::logits;
  constexpr auto kBest = Wanted::best_tokens;
  EXPECT_EQ(wanted_for([](GenerationRequest& request) {
              request.min_new_tokens = 2;
              request.stop_token_ids = {511};
            }),
            (std::vector{kLogits, kLogits, kBest, kBest}));
  EXPECT_EQ(wanted_for([](GenerationRequest& request) { request.prompt_logprobs = true; }),
            (std::vector{kLogits, kLogits, kBest, kBest, kBest}))
      << "two chunks of prompt";
}

TEST_F(GreedyWays, OneThatIsSampledHasAllReadLogits) {
  const std::vector<Wanted> wanted =
      wanted_for(std::vector{greedy(kGreedyPrompt, 60), sampled(greedy(kGreedyPrompt, 5))});
  EXPECT_EQ(std::ranges::count(wanted, Wanted::logits), 5);
  EXPECT_GT(std::ranges::count(wanted, Wanted::best_tokens), 50);
  EXPECT_EQ(wanted.back(), Wanted::best_tokens);
}

}  // namespace
}  // namespace evener::engine
