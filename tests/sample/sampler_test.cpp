// Whole choices: order of the stages, seeds, distributions (fixed seeds, bounds several standard
// deviations wide), and logits that are no numbers.
#include "sample/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "sample/draw.h"
#include "sample/params_check.h"

namespace evener::sample {
namespace {

using Tokens = std::vector<TokenId>;

std::string_view no_piece(TokenId) { return ""; }

TokenId choose(Sampler& sampler, const std::vector<float>& logits, const Tokens& forbidden = {}) {
  Workspace workspace;
  const auto token = sampler.choose(logits, forbidden, workspace);
  EXPECT_TRUE(token.has_value()) << to_string(token.error());
  return token.value_or(-1);
}

// Pearson's statistic of `rounds` draws against probabilities.
double chi_square(const std::map<TokenId, size_t>& counts, const std::map<TokenId, double>& p,
                  size_t rounds) {
  double sum = 0;
  for (const auto& [id, probability] : p) {
    const double expected = probability * double(rounds);
    const auto it = counts.find(id);
    const double got = it == counts.end() ? 0 : double(it->second);
    sum += (got - expected) * (got - expected) / expected;
  }
  return sum;
}

std::map<TokenId, size_t> draw_many(const Params& params, const std::vector<float>& logits,
                                    size_t rounds) {
  Sampler sampler(params, {}, no_piece);
  Workspace workspace;
  std::map<TokenId, size_t> counts;
  for (size_t i = 0; i < rounds; ++i) {
    const auto token = sampler.choose(logits, {}, workspace);
    ++counts[*token];
    sampler.accept(*token);
  }
  return counts;
}

TEST(Sampler, DrawsFromTheSoftmax) {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(3.0F), std::log(4.0F)};
  const std::map<TokenId, double> p = {{0, 0.1}, {1, 0.2}, {2, 0.3}, {3, 0.4}};
  for (const uint64_t seed : {0U, 1U, 2U, 77U}) {
    const auto counts = draw_many({.seed = seed}, logits, 40'000);
    EXPECT_LT(chi_square(counts, p, 40'000), 21.1) << "3 degrees of freedom, 1 in 10,000";
  }
}

TEST(Sampler, DrawsFromWhatIsLeftOfTheSoftmax) {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(3.0F), std::log(4.0F)};
  const auto counts = draw_many({.top_k = 2, .seed = 5}, logits, 40'000);
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_LT(chi_square(counts, {{2, 3.0 / 7}, {3, 4.0 / 7}}, 40'000), 15.2);
}

TEST(Sampler, TemperatureSharpensAndFlattens) {
  const std::vector<float> logits = {0, std::log(2.0F)};
  EXPECT_LT(
      chi_square(draw_many({.temperature = 0.5F}, logits, 20'000), {{0, 0.2}, {1, 0.8}}, 20'000),
      15.2);
  EXPECT_EQ(draw_many({.temperature = 1e-30F}, logits, 100), (std::map<TokenId, size_t>{{1, 100}}));
}

// The stages' order matters here: the nucleus is taken of the distribution after temperature.
TEST(Sampler, TopPComesAfterTemperature) {
  const std::vector<float> logits = {std::log(6.0F), std::log(3.0F), 0};
  EXPECT_EQ(draw_many({.temperature = 0.5F, .top_p = 0.75F}, logits, 500).size(), 1U);
  EXPECT_EQ(draw_many({.temperature = 1, .top_p = 0.75F}, logits, 500).size(), 2U);
}

TEST(Sampler, PenaltiesComeBeforeArgMaxAndBiasBeforePenalties) {
  Params params{.temperature = 0, .repetition_penalty = 2};
  params.logit_bias = {{0, 3.0F}};
  Sampler sampler(params, Tokens{0}, no_piece);
  // (2 + 3) / 2 = 2.5 < 3; were the bias added after the penalty, 2 / 2 + 3 = 4 would win.
  EXPECT_EQ(choose(sampler, {2, 3}), 1);
}

TEST(Sampler, TemperatureZeroTakesTheLowestIdAmongEquals) {
  Sampler sampler({.temperature = 0}, {}, no_piece);
  EXPECT_EQ(choose(sampler, {1, 7, 7}), 1);
  EXPECT_EQ(choose(sampler, {1, 7, 7}, {1}), 2);
}

TEST(Sampler, TheSameSeedGivesTheSameTokensWhateverElseIsDrawn) {
  std::mt19937 random(1);
  std::vector<std::vector<float>> rows(200, std::vector<float>(500));
  for (auto& row : rows) {
    for (float& logit : row) logit = std::normal_distribution<float>(0, 2)(random);
  }
  const Params params{.temperature = 1.1F, .top_p = 0.95F, .seed = 42};
  Sampler alone(params, {}, no_piece);
  Sampler crowded(params, {}, no_piece);
  Sampler other({.seed = 43}, {}, no_piece);
  size_t num_different = 0;
  for (const auto& row : rows) {
    const TokenId token = choose(alone, row);
    const TokenId foreign = choose(other, row);
    other.accept(foreign);
    ASSERT_EQ(choose(crowded, row), token);
    ASSERT_EQ(choose(crowded, row), token) << "choosing without accepting changes nothing";
    alone.accept(token);
    crowded.accept(token);
    if (foreign != token) ++num_different;
  }
  EXPECT_GT(num_different, 150U);
}

TEST(Sampler, NumbersOfNeighbouringSeedsAreUnrelated) {
  double sum = 0;
  double product = 0;
  constexpr int kCount = 20'000;
  for (uint64_t i = 0; i < kCount; ++i) {
    const double x = uniform(1, i) - 0.5;
    sum += x;
    product += x * (uniform(2, i) - 0.5);
    ASSERT_NE(uniform(1, i + 1), uniform(2, i)) << "no shifted stream";
  }
  EXPECT_LT(std::abs(sum / kCount), 0.01);
  EXPECT_LT(std::abs(product / kCount), 0.003);
}

TEST(Sampler, WhatIsNotFiniteIsNeverChosen) {
  const std::vector<float> logits = {NAN, INFINITY, 1, -INFINITY, NAN};
  for (const float temperature : {0.0F, 1.0F, 100.0F}) {
    EXPECT_EQ(draw_many({.temperature = temperature, .repetition_penalty = 1.5F}, logits, 50),
              (std::map<TokenId, size_t>{{2, 50}}));
  }
}

TEST(Sampler, ARowWithoutAFiniteLogitIsAnError) {
  Sampler sampler({}, {}, no_piece);
  Workspace workspace;
  const std::vector<float> none = {NAN, INFINITY, -INFINITY};
  const auto token = sampler.choose(none, {}, workspace);
  ASSERT_FALSE(token.has_value());
  EXPECT_EQ(to_string(token.error()),
            "cannot choose a token: generated token 0: the model gave no finite logit");
  EXPECT_FALSE(sampler.choose(std::vector<float>{1}, Tokens{0}, workspace).has_value());
}

// What is chosen by the best token alone, and what it says when there is none.
TEST(Sampler, PlainGreedyNeedsNoLogits) {
  const Sampler greedy({.temperature = 0, .top_k = 3, .top_p = 0.5F}, {}, no_piece);
  EXPECT_FALSE(greedy.needs_logits());
  EXPECT_EQ(greedy.choose_best(77).value(), 77);
  EXPECT_EQ(to_string(greedy.choose_best(-1).error()),
            "cannot choose a token: generated token 0: the model gave no finite logit");
  for (const Params& params : {Params{}, Params{.temperature = 0, .repetition_penalty = 0.9F},
                               Params{.temperature = 0, .presence_penalty = -1},
                               Params{.temperature = 0, .frequency_penalty = 1},
                               Params{.temperature = 0, .dry_multiplier = 1},
                               Params{.temperature = 0, .logit_bias = {{3, 1.0F}}}}) {
    EXPECT_TRUE(Sampler(params, {}, no_piece).needs_logits());
  }
}

TEST(Sampler, ALargeVocabularyIsDrawnFrom) {
  std::mt19937 random(9);
  std::vector<float> logits(250'000);
  for (float& logit : logits) logit = std::normal_distribution<float>(0, 3)(random);
  for (const Params& params : {Params{}, Params{.top_k = 40}, Params{.top_p = 0.99F},
                               Params{.min_p = 0.02F}, Params{.typical_p = 0.9F}}) {
    EXPECT_GT(draw_many(params, logits, 20).size(), 2U);
  }
}

struct Refusal {
  Params params;
  std::string message;
};

TEST(ParamsCheck, NamesTheFieldAndItsRange) {
  EXPECT_TRUE(check({}, 100).has_value());
  Params bias;
  bias.logit_bias = {{100, 1.0F}};
  Params nan_bias;
  nan_bias.logit_bias = {{1, NAN}};
  Params breaker;
  breaker.dry_sequence_breakers = {""};
  const Refusal refusals[] = {
      {{.temperature = -1}, "cannot sample: temperature: must be between 0 and 100, not -1"},
      {{.temperature = NAN}, "cannot sample: temperature: must be between 0 and 100, not nan"},
      {{.top_k = -5}, "cannot sample: top_k: must be at least 0, not -5"},
      {{.top_p = 1.5F}, "cannot sample: top_p: must be between 0 and 1, not 1.5"},
      {{.min_p = -0.5F}, "cannot sample: min_p: must be between 0 and 1, not -0.5"},
      {{.typical_p = INFINITY}, "cannot sample: typical_p: must be between 0 and 1, not inf"},
      {{.repetition_penalty = 0},
       "cannot sample: repetition_penalty: must be between 0.01 and 100, not 0"},
      {{.penalty_last_n = -2}, "cannot sample: penalty_last_n: must be at least -1, not -2"},
      {{.dry_base = 0.5F}, "cannot sample: dry_base: must be between 1 and 100, not 0.5"},
      {bias, "cannot sample: logit_bias: token 100 is not in the vocabulary of 100"},
      {nan_bias, "cannot sample: logit_bias: of token 1 is not finite"},
      {breaker, "cannot sample: dry_sequence_breakers: has an empty entry"},
  };
  for (const Refusal& refusal : refusals) {
    const auto status = check(refusal.params, 100);
    ASSERT_FALSE(status.has_value()) << refusal.message;
    EXPECT_EQ(status.error().code, Code::invalid_argument);
    EXPECT_EQ(to_string(status.error()), refusal.message);
  }
}

}  // namespace
}  // namespace evener::sample
