// Each cut against a straightforward one: full sort, plain sums in f64. Random and tied logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "sample/arg_max.h"
#include "sample/candidates.h"
#include "sample/logprobs.h"
#include "sample/stage.h"

namespace evener::sample {
namespace {

struct Plain {
  TokenId id;
  double p;
};

std::vector<float> random_logits(unsigned seed, size_t count, bool tied) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(count);
  for (float& logit : logits) logit = tied ? std::round(normal(random)) : normal(random);
  return logits;
}

std::vector<Plain> softmax(const std::vector<float>& logits) {
  std::vector<Plain> all;
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit});
  for (size_t id = 0; id < logits.size(); ++id) {
    all.push_back({static_cast<TokenId>(id), std::exp(double{logits[id]}) / sum});
  }
  return all;
}

void renormalise(std::vector<Plain>& all) {
  double sum = 0;
  for (const Plain& x : all) sum += x.p;
  for (Plain& x : all) x.p /= sum;
}

void sort_falling(std::vector<Plain>& all) {
  std::ranges::stable_sort(all, [](const Plain& a, const Plain& b) { return a.p > b.p; });
}

std::vector<Plain> keep_mass(std::vector<Plain> all, double share) {
  double mass = 0;
  size_t kept = 0;
  while (kept == 0 || (kept < all.size() && mass < share)) mass += all[kept++].p;
  all.resize(kept);
  return all;
}

std::vector<Plain> plain_top_p(std::vector<Plain> all, double top_p) {
  sort_falling(all);
  return keep_mass(std::move(all), top_p);
}

std::vector<Plain> plain_typical(std::vector<Plain> all, double typical_p) {
  double entropy = 0;
  for (const Plain& x : all) entropy -= x.p * std::log(x.p);
  sort_falling(all);
  std::ranges::stable_sort(all, [=](const Plain& a, const Plain& b) {
    return std::abs(-std::log(a.p) - entropy) < std::abs(-std::log(b.p) - entropy);
  });
  return keep_mass(std::move(all), typical_p);
}

std::vector<Plain> plain_min_p(std::vector<Plain> all, double min_p) {
  sort_falling(all);
  const double limit = all[0].p * min_p;
  std::erase_if(all, [=](const Plain& x) { return x.p < limit * (1 - 1e-6); });
  return all;
}

std::vector<Plain> plain(const Params& p, const std::vector<float>& logits) {
  std::vector<float> scaled = logits;
  for (float& logit : scaled) logit /= p.temperature;
  std::vector<Plain> all = softmax(scaled);
  if (p.top_k > 0) {
    sort_falling(all);
    all.resize(std::min(all.size(), size_t(p.top_k)));
    renormalise(all);
  }
  if (p.typical_p < 1) {
    all = plain_typical(std::move(all), double{p.typical_p});
    renormalise(all);
  }
  if (p.top_p < 1) {
    all = plain_top_p(std::move(all), double{p.top_p});
    renormalise(all);
  }
  if (p.min_p > 0) all = plain_min_p(std::move(all), double{p.min_p});
  renormalise(all);
  return all;
}

std::vector<Plain> ours(const Params& p, const std::vector<float>& logits) {
  Candidates candidates;
  candidates.assign(logits, *std::ranges::max_element(logits));
  for (const Stage* stage : stages()) {
    if (stage->is_on(p)) stage->apply(p, candidates);
  }
  std::vector<Plain> kept;
  for (const Candidate& c : candidates.entries()) {
    kept.push_back({c.id, c.weight() / candidates.total_weight()});
  }
  return kept;
}

void expect_same(std::vector<Plain> a, std::vector<Plain> b) {
  std::ranges::sort(a, {}, &Plain::id);
  std::ranges::sort(b, {}, &Plain::id);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].id, b[i].id);
    ASSERT_NEAR(a[i].p, b[i].p, 1e-5);
  }
}

TEST(Stages, AgreeWithAFullSort) {
  const Params settings[] = {
      {.temperature = 0.7F},
      {.top_k = 1},
      {.top_k = 40},
      {.top_k = 5000},
      {.top_p = 0.9F},
      {.top_p = 0},
      {.min_p = 0.05F},
      {.min_p = 1},
      {.typical_p = 0.5F},
      {.typical_p = 0},
      {.temperature = 1.5F, .top_k = 200, .top_p = 0.95F, .min_p = 0.01F, .typical_p = 0.9F},
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    const size_t vocab = seed < 3 ? seed + 1 : 50 * seed;
    // Ties are cut by id, which sums in another order could round across: only untied here.
    const auto logits = random_logits(seed, vocab, false);
    for (const Params& params : settings) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " setting " << &params - settings);
      expect_same(ours(params, logits), plain(params, logits));
    }
  }
}

TEST(Stages, AmongEqualsTheLowestIdsAreKept) {
  const std::vector<float> logits = {1, 3, 3, 3, 2, 3};
  const auto kept = ours({.top_k = 2}, logits);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].id, 1);
  EXPECT_EQ(kept[1].id, 2);
  const auto nucleus = ours({.top_p = 0.35F}, std::vector<float>(10, 7.0F));
  ASSERT_EQ(nucleus.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(nucleus[i].id, static_cast<TokenId>(i));
}

TEST(Stages, ExtremesLeaveAtLeastOneCandidate) {
  for (const std::vector<float>& logits :
       {std::vector<float>{-3e38F, 3e38F, 0}, std::vector<float>{0}, std::vector<float>(300, -1),
        std::vector<float>{-INFINITY, 5, NAN, INFINITY}}) {
    std::vector<float> finite = logits;
    for (float& logit : finite) logit = std::isfinite(logit) ? logit : -INFINITY;
    for (const float temperature : {1e-38F, 1e-3F, 100.0F}) {
      const auto kept = ours(
          {.temperature = temperature, .top_k = 1, .top_p = 0, .min_p = 1, .typical_p = 0}, finite);
      ASSERT_EQ(kept.size(), 1U);
      EXPECT_FALSE(std::isnan(kept[0].p));
    }
  }
}

TEST(ArgMax, TakesTheLowestIdAndOnlyFiniteLogits) {
  EXPECT_EQ(arg_max(std::vector<float>{1, 5, 5, 2}), 1);
  EXPECT_EQ(arg_max(std::vector<float>{NAN, INFINITY, -7, -INFINITY}), 2);
  EXPECT_EQ(arg_max(std::vector<float>{-3e38F}), 0);
  EXPECT_EQ(arg_max(std::vector<float>{NAN, INFINITY, -INFINITY}), std::nullopt);
  EXPECT_EQ(arg_max({}), std::nullopt);
}

TEST(Logprobs, AreTheLogOfTheSoftmax) {
  for (const bool tied : {false, true}) {
    auto logits = random_logits(5, 3000, tied);
    const auto all = softmax(logits);
    const Logprobs logprobs(logits);
    for (const size_t id : {0U, 17U, 2999U}) {
      EXPECT_NEAR(logprobs.of(static_cast<TokenId>(id)), std::log(all[id].p), 1e-5);
    }
    auto falling = all;
    sort_falling(falling);
    const auto best = logprobs.likeliest(25);
    ASSERT_EQ(best.size(), 25U);
    for (size_t i = 0; i < 25; ++i) EXPECT_EQ(best[i], falling[i].id);
    EXPECT_TRUE(logprobs.likeliest(0).empty());
    EXPECT_EQ(logprobs.likeliest(5000).size(), 3000U);
  }
}

TEST(Logprobs, WhatIsNotFiniteHasNoProbability) {
  const std::vector<float> logits = {0, NAN, INFINITY, -INFINITY, 0};
  const Logprobs logprobs(logits);
  EXPECT_NEAR(logprobs.of(0), std::log(0.5), 1e-6);
  for (const TokenId id : {1, 2, 3}) EXPECT_EQ(logprobs.of(id), -INFINITY);
  EXPECT_EQ(logprobs.likeliest(5), (std::vector<TokenId>{0, 4}));
}

}  // namespace
}  // namespace evener::sample
