// A step becomes rows, page tables, state slots and logit rows; places come and go with sequences.
#include "engine/pass_builder.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "cache/residency.h"

namespace evener::engine {
namespace {

using sched::Slice;

std::vector<int32_t> list(std::span<const int32_t> values) {
  return {values.begin(), values.end()};
}

TEST(PassBuilder, RowsPositionsPagesSlotsAndLogitRowsAreTheSteps) {
  cache::Residency residency({.page_size = 16, .num_pages = 10, .num_state_slots = 3});
  const std::map<sched::SequenceId, std::vector<int32_t>> tokens = {
      {1, std::vector<int32_t>(18, 40)}, {2, {50, 51, 52}}, {3, {60, 61}}};
  for (const auto& [id, list_of] : tokens) {
    ASSERT_TRUE(residency.admit({.id = id, .tokens = list_of}));
    ASSERT_TRUE(residency.cover(id, list_of.size()));
  }
  const std::vector<Slice> step = {{.sequence = 1,
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
