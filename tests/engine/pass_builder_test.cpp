// A step becomes rows, page tables, state slots and logit rows; places come and go with sequences.
#include "engine/pass_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "engine/residency.h"

namespace evener::engine {
namespace {

using sched::Slice;

std::vector<int32_t> list(std::span<const int32_t> values) {
  return {values.begin(), values.end()};
}

TEST(Residency, AdmittingGrowingAndReleasingKeepTheSum) {
  Residency residency({.num_pages = 10, .page_size = 16, .num_state_slots = 2});
  EXPECT_EQ(residency.room().pages, 10U);
  EXPECT_EQ(residency.room().state_slots, 2U);
  residency.admit(7, 4);
  EXPECT_EQ(residency.room().pages, 6U);
  EXPECT_EQ(residency.room().state_slots, 1U);
  EXPECT_TRUE(residency.pages(7).empty());
  residency.cover(7, 16);
  EXPECT_EQ(residency.pages(7).size(), 1U);
  residency.cover(7, 17);
  EXPECT_EQ(residency.pages(7).size(), 2U);
  EXPECT_EQ(residency.room().pages, 6U) << "pages come out of what was set aside";
  residency.release(7);
  residency.release(7);
  EXPECT_EQ(residency.room().pages, 10U);
  EXPECT_EQ(residency.room().state_slots, 2U);
}

TEST(Residency, ModelsWithoutStatesNeedNoSlots) {
  Residency residency({.num_pages = 10, .page_size = 16, .num_state_slots = 0});
  residency.admit(1, 1);
  EXPECT_EQ(residency.state_slot(1), -1);
  EXPECT_EQ(residency.room().state_slots, SIZE_MAX);
}

TEST(PassBuilder, RowsPositionsPagesSlotsAndLogitRowsAreTheSteps) {
  Residency residency({.num_pages = 10, .page_size = 16, .num_state_slots = 3});
  const std::map<sched::SequenceId, std::vector<int32_t>> tokens = {
      {1, std::vector<int32_t>(18, 40)}, {2, {50, 51, 52}}, {3, {60, 61}}};
  for (const auto& [id, list_of] : tokens) {
    residency.admit(id, 2);
    residency.cover(id, list_of.size());
  }
  sched::Step step;
  step.slices = {{.sequence = 1,
                  .first_position = 17,
                  .num_tokens = 1,
                  .kind = Slice::Kind::decode,
                  .logits = Slice::Logits::last},
                 {.sequence = 2,
                  .first_position = 0,
                  .num_tokens = 2,
                  .kind = Slice::Kind::prompt,
                  .logits = Slice::Logits::last},
                 {.sequence = 3,
                  .first_position = 0,
                  .num_tokens = 2,
                  .kind = Slice::Kind::prompt,
                  .logits = Slice::Logits::all}};
  PassBuilder builder;
  const auto tokens_of = [&](sched::SequenceId id) {
    return std::span<const int32_t>(tokens.at(id));
  };
  for (int round = 0; round < 2; ++round) {  // the second build starts from scratch
    const RankPass pass = builder.build(step, residency, tokens_of);
    EXPECT_EQ(list(pass.input.tokens), (std::vector<int32_t>{40, 50, 51, 60, 61}));
    EXPECT_EQ(list(pass.input.positions), (std::vector<int32_t>{17, 0, 1, 0, 1}));
    EXPECT_EQ(list(pass.input.logit_rows), (std::vector<int32_t>{0, 2, 3, 4}));
    EXPECT_EQ(list(pass.fresh_slots),
              (std::vector<int32_t>{residency.state_slot(2), residency.state_slot(3)}));
    ASSERT_EQ(pass.input.batch.slices.size(), 3U);
    EXPECT_EQ(pass.input.batch.num_rows, 5U);
    const device::Slice& second = pass.input.batch.slices[1];
    EXPECT_EQ(second.first_row, 1U);
    EXPECT_EQ(second.num_rows, 2U);
    EXPECT_EQ(second.first_position, 0U);
    EXPECT_EQ(list(second.pages), list(residency.pages(2)));
    EXPECT_EQ(second.state_slot, residency.state_slot(2));
    EXPECT_EQ(pass.input.batch.slices[0].pages.size(), 2U);
    EXPECT_EQ(builder.logits_of_slice(0).first_row, 0U);
    EXPECT_EQ(builder.logits_of_slice(1).num_rows, 1U);
    EXPECT_EQ(builder.logits_of_slice(2).first_row, 2U);
    EXPECT_EQ(builder.logits_of_slice(2).num_rows, 2U);
  }
}

}  // namespace
}  // namespace evener::engine
