#include "engine/stored_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evener::engine {
namespace {

using testing::ElementsAre;

TEST(StoredPass, KeepsAllThatAPassPointsTo) {
  std::vector<int32_t> tokens = {7, 8, 9};
  std::vector<int32_t> positions = {0, 1, 64};
  std::vector<int32_t> rows = {1, 2};
  std::vector<int32_t> first_pages = {3};
  std::vector<int32_t> second_pages = {5, 6};
  std::vector<device::Slice> slices = {
      {.first_row = 0, .num_rows = 2, .first_position = 0, .pages = first_pages, .state_slot = 1},
      {.first_row = 2, .num_rows = 1, .first_position = 64, .pages = second_pages}};
  StoredPass stored;
  stored.store({.input = {.tokens = tokens,
                          .positions = positions,
                          .batch = {.slices = slices, .num_rows = 3},
                          .logit_rows = rows},
                .wanted = Wanted::best_tokens},
               17);
  for (auto* values : {&tokens, &positions, &rows, &first_pages, &second_pages}) {
    std::ranges::fill(*values, -5);
  }
  slices.clear();
  const model::PassInput input = stored.pass().input;
  EXPECT_EQ(stored.number(), 17U);
  EXPECT_EQ(stored.pass().wanted, Wanted::best_tokens);
  EXPECT_THAT(input.tokens, ElementsAre(7, 8, 9));
  EXPECT_THAT(input.positions, ElementsAre(0, 1, 64));
  EXPECT_THAT(input.logit_rows, ElementsAre(1, 2));
  ASSERT_EQ(input.batch.slices.size(), 2U);
  EXPECT_EQ(input.batch.num_rows, 3U);
  EXPECT_THAT(input.batch.slices[0].pages, ElementsAre(3));
  EXPECT_EQ(input.batch.slices[0].state_slot, 1);
  EXPECT_THAT(input.batch.slices[1].pages, ElementsAre(5, 6));
  EXPECT_EQ(input.batch.slices[1].first_position, 64U);
  EXPECT_EQ(input.batch.slices[1].state_slot, -1);
}

TEST(StoredPass, ForgetsThePassBefore) {
  const std::vector<int32_t> three = {1, 2, 3};
  StoredPass stored;
  stored.store({.input = {.tokens = three, .positions = three, .batch = {}, .logit_rows = three}},
               1);
  stored.store({.input = {}}, 2);
  EXPECT_TRUE(stored.pass().input.tokens.empty());
  EXPECT_TRUE(stored.pass().input.logit_rows.empty());
  EXPECT_TRUE(stored.pass().input.batch.slices.empty());
}

}  // namespace
}  // namespace evener::engine
