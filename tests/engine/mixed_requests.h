#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/models.h"

namespace evener::engine {

inline constexpr size_t kNumSequences = 8;
inline constexpr size_t kNewTokens = 20;

inline std::vector<TokenId> random_prompt(std::mt19937& random, size_t length, size_t vocab_size) {
  std::vector<TokenId> prompt(length);
  for (TokenId& id : prompt) id = static_cast<TokenId>(random() % vocab_size);
  return prompt;
}

// Greedy ones and sampled ones, short prompts and prompts of several chunks and pages.
inline std::vector<GenerationRequest> requests(size_t vocab_size) {
  constexpr size_t kLengths[kNumSequences] = {1, 150, 3, 64, 65, 9, 130, 30};
  std::mt19937 random(2024);
  std::vector<GenerationRequest> all;
  for (size_t i = 0; i < kNumSequences; ++i) {
    GenerationRequest request =
        greedy(random_prompt(random, kLengths[i], vocab_size), kNewTokens + i);
    if (i % 2 == 1) {
      request.sampling.temperature = 0.9F;
      request.sampling.top_p = 0.9F;
      request.sampling.repetition_penalty = 1.1F;
      request.sampling.dry_multiplier = 0.5F;
      request.sampling.seed = 100 + i;
    }
    if (i == 5) request.num_top_logprobs = 2;
    all.push_back(std::move(request));
  }
  return all;
}

struct Said {
  std::vector<TokenId> tokens;
  std::string text;
  std::vector<float> logprobs;
  bool operator==(const Said&) const = default;
};

inline Said said(const Answer& answer) {
  Said result{.tokens = answer.tokens, .text = answer.text, .logprobs = {}};
  for (const TokenOutput& output : answer.outputs) result.logprobs.push_back(output.chosen.logprob);
  EXPECT_EQ(answer.finish, FinishReason::length);
  return result;
}

inline std::vector<Said> one_after_the_other(Engine& engine) {
  std::vector<Said> all;
  for (auto& request : requests(engine.facts().vocab_size)) {
    all.push_back(said(generate(engine, std::move(request))));
  }
  return all;
}

// The next one joins when the one before has said `stagger` tokens; short ones leave early.
inline std::vector<Said> together(Engine& engine, size_t stagger) {
  std::vector<Listener> listeners(kNumSequences);
  auto all_requests = requests(engine.facts().vocab_size);
  for (size_t i = 0; i < kNumSequences; ++i) {
    EXPECT_TRUE(engine.submit(std::move(all_requests[i]), listeners[i].sink()).has_value());
    listeners[i].wait_for_tokens(stagger);
  }
  std::vector<Said> all;
  for (Listener& listener : listeners) all.push_back(said(listener.wait()));
  return all;
}

}  // namespace evener::engine
