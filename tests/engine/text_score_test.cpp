#include "engine/text_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "device/create_device.h"
#include "engine/models.h"
#include "gguf/file.h"

namespace evener::engine {
namespace {

// A golden model, or the bundled one for "", opened for texts of at most 64 tokens.
struct Opened {
  gguf::File file;
  std::unique_ptr<device::Device> device;
  LogitsRun run;
};

Result<std::unique_ptr<Opened>> open(const std::string& name, size_t chunk) {
  const auto bundled =
      std::filesystem::path(EVENER_TEST_DATA) / "../../models/evener-tiny35-q8_0.gguf";
  ASSIGN_OR_RETURN(gguf::File file, gguf::File::open(name.empty() ? bundled : model_path(name)));
  ASSIGN_OR_RETURN(auto device, device::create_device("cpu:0", 2));
  ASSIGN_OR_RETURN(
      LogitsRun run,
      LogitsRun::create(file, *device,
                        {.kv_type = device::KvType::f32, .chunk = chunk, .num_tokens_max = 64}));
  return std::make_unique<Opened>(std::move(file), std::move(device), std::move(run));
}

std::unique_ptr<Opened> opened(const std::string& name, size_t chunk = 512) {
  auto result = open(name, chunk);
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  return std::move(result).value();
}

std::vector<int32_t> some_tokens(size_t count) {
  std::vector<int32_t> tokens(count);
  for (size_t i = 0; i < count; ++i) tokens[i] = static_cast<int32_t>(i * i * 7 % 300);
  return tokens;
}

constexpr auto kGoOn = [](size_t) { return true; };

RunningMean score(LogitsRun& run, const ScoredText& text) {
  auto result = score_text(run, text, kGoOn);
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  return result.value_or(RunningMean());
}

// The same sum from the logits of a window, as the definition says it.
double nll_sum(LogitsRun& run, std::vector<int32_t> tokens, size_t num_unscored) {
  run.restart();
  double sum = 0;
  EXPECT_TRUE(run.feed(tokens,
                       [&](size_t index, std::span<const float> logits) {
                         if (index + 1 < num_unscored || index + 1 >= tokens.size()) return;
                         double total = 0;
                         for (const float logit : logits) total += std::exp(double{logit});
                         const auto token = static_cast<size_t>(tokens[index + 1]);
                         sum -= std::log(std::exp(double{logits[token]}) / total);
                       })
                  .has_value());
  return sum;
}

TEST(ScoreText, IsTheLikelihoodOfTheScoredTokensOfEveryWindow) {
  const auto model = opened("qwen35");
  const std::vector<int32_t> tokens = some_tokens(100);
  const std::vector<Window> windows = *text_windows(100, {.num_tokens = 40, .stride = 30});
  ASSERT_EQ(windows.size(), 3U);
  double expected = 0;
  for (const Window& window : windows) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(window.first);
    expected += nll_sum(model->run, {first, first + 40}, 10);
  }
  const RunningMean nll = score(model->run, {.tokens = tokens, .windows = windows});
  EXPECT_EQ(nll.count(), 90U);
  EXPECT_NEAR(nll.mean(), expected / 90, 1e-6);
  EXPECT_GT(nll.standard_error(), 0);
}

TEST(ScoreText, DoesNotDependOnTheChunk) {
  const std::vector<int32_t> tokens = some_tokens(64);
  const std::vector<Window> windows = *text_windows(64, {.num_tokens = 32});
  const ScoredText text{.tokens = tokens, .windows = windows};
  const double whole = score(opened("qwen35")->run, text).mean();
  for (const size_t chunk : {1U, 7U, 16U, 31U})
    EXPECT_EQ(score(opened("qwen35", chunk)->run, text).mean(), whole) << chunk;
}

TEST(ScoreText, PutsTheBeginningMarkBeforeEachWindow) {
  const auto model = opened("llama");
  const std::vector<int32_t> tokens = some_tokens(20);
  const std::vector<Window> windows = *text_windows(20, {.num_tokens = 20, .num_unscored = 1});
  std::vector<int32_t> marked = tokens;
  marked[0] = 5;
  const RunningMean nll = score(model->run, {.tokens = tokens, .windows = windows, .bos = 5});
  EXPECT_NEAR(nll.mean(), nll_sum(model->run, marked, 1) / 19, 1e-6);
}

TEST(ScoreText, StopsWhenToldTo) {
  const auto model = opened("llama");
  const std::vector<int32_t> tokens = some_tokens(60);
  const std::vector<Window> windows = *text_windows(60, {.num_tokens = 20});
  const auto result = score_text(model->run, {.tokens = tokens, .windows = windows},
                                 [](size_t num_done) { return num_done < 2; });
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::cancelled);
}

TEST(CompareOnText, AModelIsEqualToItself) {
  const auto a = opened("qwen3");
  const auto b = opened("qwen3", 5);
  const std::vector<int32_t> tokens = some_tokens(64);
  const std::vector<Window> windows = *text_windows(64, {.num_tokens = 32});
  const auto result =
      compare_on_text(a->run, b->run, {.tokens = tokens, .windows = windows}, kGoOn);
  ASSERT_TRUE(result.has_value()) << to_string(result.error());
  EXPECT_EQ(result->kls.size(), 32U);
  EXPECT_EQ(result->num_same_top, 32U);
  EXPECT_LT(result->kl.mean(), 1e-12);
  EXPECT_EQ(result->nll_a.mean(), result->nll_b.mean());
  EXPECT_EQ(result->squared_change.mean(), 0);
}

// KL from the definition, on one window of two models that differ by rounding.
TEST(CompareOnText, GivesTheDivergenceOfTheDistributions) {
  const auto a = opened("llama");
  const auto b = opened("llama-bf16");
  const std::vector<int32_t> tokens = some_tokens(30);
  const std::vector<Window> windows = *text_windows(30, {.num_tokens = 30, .num_unscored = 1});
  const auto result =
      compare_on_text(a->run, b->run, {.tokens = tokens, .windows = windows}, kGoOn);
  ASSERT_TRUE(result.has_value()) << to_string(result.error());

  std::vector<std::vector<double>> p[2];
  for (const auto& [place, run] : {std::pair(0, &a->run), std::pair(1, &b->run)}) {
    run->restart();
    EXPECT_TRUE(run->feed(tokens,
                          [&p, at = place](size_t, std::span<const float> logits) {
                            std::vector<double> row(logits.begin(), logits.end());
                            for (double& value : row) value = std::exp(value);
                            const double total = std::accumulate(row.begin(), row.end(), 0.0);
                            for (double& value : row) value /= total;
                            p[at].push_back(std::move(row));
                          })
                    .has_value());
  }
  for (size_t t = 0; t < 29; ++t) {
    double kl = 0;
    for (size_t i = 0; i < p[0][t].size(); ++i)
      kl += p[0][t][i] * std::log(p[0][t][i] / p[1][t][i]);
    EXPECT_NEAR(result->kls[t], kl, 1e-6 + 1e-4 * kl) << t;
  }
  EXPECT_GT(result->kl.mean(), 0);
  EXPECT_GT(result->squared_change.mean(), 0);
}

TEST(CompareOnText, RefusesOtherVocabularies) {
  const auto a = opened("llama");
  const auto b = opened("");
  const std::vector<int32_t> tokens = some_tokens(20);
  const std::vector<Window> windows = *text_windows(20, {.num_tokens = 20});
  const auto result =
      compare_on_text(a->run, b->run, {.tokens = tokens, .windows = windows}, kGoOn);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace evener::engine
