#include "engine/text_windows.h"

#include <gtest/gtest.h>

namespace evener::engine {
namespace {

std::vector<Window> windows(size_t num_tokens, const WindowOptions& options) {
  auto result = text_windows(num_tokens, options);
  EXPECT_TRUE(result.has_value()) << to_string(result.error());
  return result.value_or(std::vector<Window>());
}

bool refused(size_t num_tokens, const WindowOptions& options) {
  const auto result = text_windows(num_tokens, options);
  return !result && result.error().code == Code::invalid_argument;
}

TEST(TextWindows, WithoutOverlapHalfOfEachIsScored) {
  const auto parts = windows(1280, {.num_tokens = 512});
  ASSERT_EQ(parts.size(), 2U) << "the 256 tokens left would score nothing";
  EXPECT_EQ(parts[0].first, 0U);
  EXPECT_EQ(parts[1].first, 512U);
  EXPECT_EQ(parts[1].num_tokens, 512U);
  EXPECT_EQ(parts[1].num_unscored, 256U);
}

TEST(TextWindows, OverlappingOnesScoreEveryTokenBehindTheFirstHeadOnce) {
  const auto parts = windows(1000, {.num_tokens = 300, .stride = 100});
  ASSERT_EQ(parts.size(), 8U);
  size_t next = 200;
  for (const Window& part : parts) {
    EXPECT_EQ(part.first + part.num_unscored, next);
    next = part.first + part.num_tokens;
  }
  EXPECT_EQ(next, 1000U);
}

TEST(TextWindows, TheLastOneIsWhatIsLeft) {
  const auto parts = windows(1300, {.num_tokens = 512});
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[2].first, 1024U);
  EXPECT_EQ(parts[2].num_tokens, 276U);
  const auto overlapping = windows(1050, {.num_tokens = 300, .stride = 100});
  EXPECT_EQ(overlapping.back().first, 800U);
  EXPECT_EQ(overlapping.back().num_tokens, 250U);
  EXPECT_EQ(overlapping.back().num_unscored, 200U);
}

TEST(TextWindows, AShortTextIsOneWindow) {
  const auto parts = windows(40, {.num_tokens = 512, .num_unscored = 1});
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].num_tokens, 40U);
  EXPECT_EQ(parts[0].num_unscored, 1U);
}

TEST(TextWindows, TheFirstTokenIsNeverScored) {
  EXPECT_EQ(windows(40, {.num_tokens = 10, .num_unscored = 0})[0].num_unscored, 1U);
  EXPECT_EQ(windows(2, {})[0].num_unscored, 1U);
}

TEST(TextWindows, RefusesWhatScoresNothing) {
  EXPECT_TRUE(refused(0, {}));
  EXPECT_TRUE(refused(1, {}));
  EXPECT_TRUE(refused(100, {.num_tokens = 1}));
  EXPECT_TRUE(refused(100, {.num_tokens = 10, .stride = 11}));
  EXPECT_TRUE(refused(100, {.num_tokens = 10, .num_unscored = 10}));
  EXPECT_TRUE(refused(8, {.num_tokens = 10, .num_unscored = 8}));
}

}  // namespace
}  // namespace evener::engine
