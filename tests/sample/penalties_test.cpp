// Penalties and DRY: hand-worked cases, then a slow and obvious re-implementation.
#include "sample/penalties.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sample/dry.h"

namespace evener::sample {
namespace {

using Tokens = std::vector<TokenId>;

TEST(Penalties, RepetitionDividesPositiveAndMultipliesNegativeLogits) {
  Penalties penalties({.repetition_penalty = 2}, Tokens{0, 1, 0});
  std::vector<float> logits = {4, -4, 4};
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{2, -8, 4}));
}

TEST(Penalties, RepetitionLooksAtTheLastTokensOnly) {
  Penalties penalties({.repetition_penalty = 2, .penalty_last_n = 2}, Tokens{0, 1, 2});
  penalties.accept(2);
  penalties.accept(3);  // the window is 2, 3
  std::vector<float> logits = {4, 4, 4, 4};
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{4, 4, 2, 2}));
}

TEST(Penalties, PresenceAndFrequencyCountGeneratedTokensOnly) {
  Penalties penalties({.presence_penalty = 0.5F, .frequency_penalty = 0.25F}, Tokens{0, 0});
  penalties.accept(1);
  penalties.accept(1);
  std::vector<float> logits = {1, 1, 1};
  penalties.apply(logits);
  EXPECT_EQ(logits, (std::vector<float>{1, 0, 1}));
}

TEST(Penalties, NothingFiniteBecomesInfiniteAndNothingInfiniteFinite) {
  Penalties penalties({.repetition_penalty = 100}, Tokens{0, 1, 2});
  std::vector<float> logits = {-3e38F, -INFINITY, NAN};
  penalties.apply(logits);
  EXPECT_EQ(logits[0], -FLT_MAX);
  EXPECT_EQ(logits[1], -INFINITY);
  EXPECT_TRUE(std::isnan(logits[2]));
}

// A vocabulary of single letters and one pair that holds a breaker in its middle.
std::string_view letter(TokenId id) {
  static const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  if (id == 26) return "x\ny";
  if (id == 27) return "<|";
  if (id == 28) return "|>";
  return std::string_view(letters).substr(static_cast<size_t>(id), 1);
}

Tokens tokens(std::string_view text) {
  Tokens ids;
  for (const char c : text) ids.push_back(c == '_' ? 26 : c == '<' ? 27 : c == '>' ? 28 : c - 'a');
  return ids;
}

Params dry_params() {
  Params params;
  params.dry_multiplier = 1;
  params.dry_base = 2;
  params.dry_allowed_length = 2;
  return params;
}

// What each letter pays, zeros left out.
std::map<char, float> dry_cost(const Params& params, std::string_view text) {
  Dry dry(params, tokens(text), letter);
  std::vector<float> logits(29, 0);
  dry.apply(logits);
  std::map<char, float> cost;
  for (size_t id = 0; id < 29; ++id) {
    if (logits[id] != 0) cost[id < 26 ? char('a' + id) : id == 26 ? '_' : '?'] = -logits[id];
  }
  return cost;
}

using Cost = std::map<char, float>;

TEST(Dry, TheTokenThatWouldLengthenARepetitionPays) {
  // "abc" came before and d followed: length 3 costs 2^(3-2).
  EXPECT_EQ(dry_cost(dry_params(), "abcdxabc"), (Cost{{'d', 2}}));
  EXPECT_EQ(dry_cost(dry_params(), "abcdxbc"), (Cost{{'d', 1}}));
  EXPECT_EQ(dry_cost(dry_params(), "abcdxc"), Cost{}) << "shorter than allowed_length";
}

TEST(Dry, TheLongestMatchCountsForEachContinuation) {
  // bc -> d at length 3 (abc) and at length 2; bc -> e at length 2.
  EXPECT_EQ(dry_cost(dry_params(), "abcdzbcdzbcezabc"), (Cost{{'d', 2}, {'e', 1}}));
}

TEST(Dry, ARunOfOneTokenMatchesItself) {
  // "aaaa": the last three stood one place before, followed by a.
  EXPECT_EQ(dry_cost(dry_params(), "aaaa"), (Cost{{'a', 2}}));
}

TEST(Dry, MatchesDoNotCrossABreaker) {
  EXPECT_EQ(dry_cost(dry_params(), "ab_cdxab_c"), Cost{}) << "c alone is left of the match";
  EXPECT_EQ(dry_cost(dry_params(), "ab_cdezab_cd"), (Cost{{'e', 1}})) << "cd, not ab_cd";
  EXPECT_EQ(dry_cost(dry_params(), "ab_ab_"), Cost{}) << "nothing lengthens a breaker";
  EXPECT_EQ(dry_cost(dry_params(), "ab_zab"), Cost{}) << "a breaker never pays";
}

TEST(Dry, ABreakerMayBeginInOneTokenAndEndInAnother) {
  Params params = dry_params();
  params.dry_sequence_breakers = {"||"};
  EXPECT_EQ(dry_cost(params, "ab<>cdxab<>c"), Cost{});
  params.dry_sequence_breakers = {};
  EXPECT_EQ(dry_cost(params, "ab<>cdxab<>c"), (Cost{{'d', 8}}));
}

TEST(Dry, TheWindowLimitsHowFarItLooksBack) {
  Params params = dry_params();
  params.dry_penalty_last_n = 7;
  EXPECT_EQ(dry_cost(params, "abcdxabc"), (Cost{{'d', 1}})) << "the first a is out of sight";
  params.dry_penalty_last_n = 0;
  EXPECT_EQ(dry_cost(params, "abcdxabc"), Cost{});
}

TEST(Dry, AHugeRepetitionStaysFinite) {
  const std::string text(5000, 'a');
  EXPECT_EQ(dry_cost(dry_params(), text), (Cost{{'a', FLT_MAX}}));
}

// Every pair of positions compared, token by token.
std::map<char, float> slow_cost(const Params& params, std::string_view text) {
  std::map<char, size_t> longest;
  for (size_t end = 0; end + 1 < text.size(); ++end) {
    size_t length = 0;
    while (length <= end && text[end - length] == text[text.size() - 1 - length] &&
           text[end - length] != '_') {
      ++length;
    }
    const char next = text[end + 1];
    if (length >= size_t(params.dry_allowed_length) && next != '_') {
      longest[next] = std::max(longest[next], length);
    }
  }
  std::map<char, float> cost;
  for (const auto& [next, length] : longest) {
    cost[next] = std::pow(2.0F, float(length) - float(params.dry_allowed_length));
  }
  return cost;
}

TEST(Dry, AgreesWithComparingEverything) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const size_t length = random() % 40;
    for (size_t i = 0; i < length; ++i) text += "ab_c"[random() % (2 + round % 3)];
    Params params = dry_params();
    params.dry_allowed_length = 1 + round % 4;
    ASSERT_EQ(dry_cost(params, text), slow_cost(params, text)) << text;
  }
}

TEST(Dry, TokensArriveOneByOneOrAsPromptAlike) {
  Dry whole(dry_params(), tokens("abcdx_abcabc"), letter);
  Dry grown(dry_params(), tokens("abc"), letter);
  for (const TokenId id : tokens("dx_abcabc")) grown.accept(id);
  std::vector<float> a(29, 1);
  std::vector<float> b(29, 1);
  whole.apply(a);
  grown.apply(b);
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace evener::sample
