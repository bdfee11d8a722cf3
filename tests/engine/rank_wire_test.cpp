// What goes between the processes of a model: the same comes out again, and nothing that arrives
// makes the reader read, or make room for, more than there is.
#include "engine/rank_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace evener::engine {
namespace {

using testing::ElementsAre;
using Kind = RankCommand::Kind;
using WireBytes = std::vector<std::byte>;

// Two sequences, one of them with a prompt of two tokens.
std::shared_ptr<StoredPass> small_pass() {
  const std::vector<int32_t> tokens = {7, 8, 9};
  const std::vector<int32_t> positions = {0, 1, 64};
  const std::vector<int32_t> rows = {1, 2};
  const std::vector<int32_t> pages = {3, 5, 6};
  const std::vector<device::Slice> slices = {
      {.first_row = 0,
       .num_rows = 2,
       .first_position = 0,
       .pages = std::span(pages).first(1),
       .state_slot = 1},
      {.first_row = 2, .num_rows = 1, .first_position = 64, .pages = std::span(pages).last(2)}};
  auto pass = std::make_shared<StoredPass>();
  pass->store({.input = {.tokens = tokens,
                         .positions = positions,
                         .batch = {.slices = slices, .num_rows = 3},
                         .logit_rows = rows},
               .wanted = Wanted::best_tokens},
              17);
  return pass;
}

WireBytes run_command() {
  return to_bytes(RankCommand{.kind = Kind::run, .number = 4, .pass = small_pass()}, 0);
}

RankAnswer full_answer() {
  return {.number = 9,
          .error = Error{.code = Code::unavailable,
                         .doing = "compute",
                         .where = "rank 1 (host-b cpu:0)",
                         .why = "it has ended",
                         .remedy = "start it again"},
          .page_bytes = 64,
          .state_bytes = 3,
          .bytes = WireBytes(5, std::byte(0xab)),
          .result = {.logits = {0.5F, -1.0F}, .best_tokens = {3, -1, 7}},
          .uses = {{1, 2, 3}, {}, {4}}};
}

TEST(RankWire, APassArrivesWithAllThatItPointsTo) {
  const auto command = command_from(run_command());
  ASSERT_TRUE(command) << to_string(command.error());
  EXPECT_EQ(command->kind, Kind::run);
  EXPECT_EQ(command->number, 4U);
  EXPECT_EQ(command->pass->number(), 17U);
  EXPECT_EQ(command->pass->pass().wanted, Wanted::best_tokens);
  const model::PassInput input = command->pass->pass().input;
  EXPECT_THAT(input.tokens, ElementsAre(7, 8, 9));
  EXPECT_THAT(input.positions, ElementsAre(0, 1, 64));
  EXPECT_THAT(input.logit_rows, ElementsAre(1, 2));
  EXPECT_EQ(input.batch.num_rows, 3U);
  ASSERT_EQ(input.batch.slices.size(), 2U);
  EXPECT_EQ(input.batch.slices[0].num_rows, 2U);
  EXPECT_EQ(input.batch.slices[0].state_slot, 1);
  EXPECT_THAT(input.batch.slices[0].pages, ElementsAre(3));
  EXPECT_EQ(input.batch.slices[1].first_row, 2U);
  EXPECT_EQ(input.batch.slices[1].first_position, 64U);
  EXPECT_EQ(input.batch.slices[1].state_slot, -1);
  EXPECT_THAT(input.batch.slices[1].pages, ElementsAre(5, 6));
}

TEST(RankWire, ARankGetsItsOwnPartOfWhatIsWritten) {
  RankCommand write{.kind = Kind::write_page, .number = 2, .to = 11, .first_byte = 4};
  write.bytes = std::make_shared<WireBytes>(WireBytes(4, std::byte(1)));
  write.bytes->resize(10, std::byte(2));
  const auto command = command_from(to_bytes(write, 6));
  ASSERT_TRUE(command) << to_string(command.error());
  EXPECT_EQ(command->to, 11);
  EXPECT_EQ(command->first_byte, 0U);
  EXPECT_EQ(*command->bytes, WireBytes(6, std::byte(2)));
}

TEST(RankWire, CommandsWithoutBytesArriveAsTheyWere) {
  for (const Kind kind : {Kind::clear_state, Kind::copy_state, Kind::read_page, Kind::read_state,
                          Kind::read_expert_uses, Kind::reset_expert_uses}) {
    const auto command =
        command_from(to_bytes(RankCommand{.kind = kind, .number = 3, .from = 5, .to = 6}, 100));
    ASSERT_TRUE(command) << to_string(command.error());
    EXPECT_EQ(command->kind, kind);
    EXPECT_EQ(command->number, 3U);
    EXPECT_EQ(command->from, 5);
    EXPECT_EQ(command->to, 6);
    EXPECT_EQ(command->bytes, nullptr);
  }
}

TEST(RankWire, AnAnswerArrivesWithItsError) {
  const RankAnswer sent = full_answer();
  const auto answer = answer_from(to_bytes(sent));
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(answer->number, sent.number);
  ASSERT_TRUE(answer->error);
  EXPECT_EQ(answer->error->code, Code::unavailable);
  EXPECT_EQ(to_string(*answer->error), to_string(*sent.error));
  EXPECT_EQ(answer->page_bytes, 64U);
  EXPECT_EQ(answer->state_bytes, 3U);
  EXPECT_EQ(answer->bytes, sent.bytes);
  EXPECT_EQ(answer->result.logits, sent.result.logits);
  EXPECT_EQ(answer->result.best_tokens, sent.result.best_tokens);
  EXPECT_EQ(answer->uses, sent.uses);
  EXPECT_FALSE(answer_from(to_bytes(RankAnswer{.number = 1}))->error);
}

TEST(RankWire, WhatIsCutShortOrTooLongIsRefused) {
  const auto refuses_all_but_the_whole = [](WireBytes whole, auto read) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const auto cut = read(std::span(whole).first(size));
      ASSERT_FALSE(cut) << size;
      EXPECT_EQ(cut.error().code, Code::corrupt);
    }
    EXPECT_TRUE(read(whole));
    whole.push_back(std::byte(0));
    EXPECT_FALSE(read(whole));
  };
  refuses_all_but_the_whole(run_command(), command_from);
  refuses_all_but_the_whole(to_bytes(full_answer()), answer_from);
}

// A length that is a lie must not become room.
TEST(RankWire, HugeLengthsAreRefused) {
  for (const WireBytes& whole : {run_command(), to_bytes(full_answer())}) {
    for (size_t at = 0; at + sizeof(uint64_t) <= whole.size(); ++at) {
      for (const uint64_t length : {UINT64_MAX, UINT64_MAX / 4 + 2, uint64_t{1} << 40}) {
        WireBytes bytes = whole;
        std::memcpy(bytes.data() + at, &length, sizeof length);
        (void)command_from(bytes).has_value();
        (void)answer_from(bytes).has_value();
      }
    }
  }
}

// As the ranks rely on: rows in order and all of them, logits of rows that there are.
TEST(RankWire, APassThatIsReadHoldsTogetherWhateverTheBytes) {
  std::mt19937 random(7);  // NOLINT(*-msc51-cpp): the same every time
  const WireBytes whole = run_command();
  size_t num_read = 0;
  for (int round = 0; round < 20000; ++round) {
    WireBytes bytes = whole;
    for (int i = 0; i < 2; ++i) bytes[random() % bytes.size()] = std::byte(random() % 4);
    const auto command = command_from(bytes);
    if (!command || !command->pass) continue;
    ++num_read;
    const Wanted wanted = command->pass->pass().wanted;
    ASSERT_TRUE(wanted == Wanted::logits || wanted == Wanted::best_tokens);
    const model::PassInput input = command->pass->pass().input;
    ASSERT_EQ(input.positions.size(), input.tokens.size());
    size_t num_rows = 0;
    for (const device::Slice& slice : input.batch.slices) {
      ASSERT_EQ(slice.first_row, num_rows);
      num_rows += slice.num_rows;
    }
    ASSERT_EQ(num_rows, input.tokens.size());
    for (const int32_t row : input.logit_rows) ASSERT_TRUE(row >= 0 && size_t(row) < num_rows);
  }
  EXPECT_GT(num_read, 1000U);
}

TEST(RankWire, RandomBytesAreRefusedOrReadInBounds) {
  std::mt19937 random(11);  // NOLINT(*-msc51-cpp): the same every time
  for (int round = 0; round < 20000; ++round) {
    WireBytes bytes(random() % 200);
    // Small values reach further than large ones, which are lengths that do not fit.
    std::ranges::generate(bytes, [&] { return std::byte(random() % 8 == 0 ? random() : 0); });
    (void)command_from(bytes).has_value();
    (void)answer_from(bytes).has_value();
  }
}

TEST(RankWire, OnlyWhatSomebodyWaitsForIsAnswered) {
  for (const Kind kind : {Kind::run, Kind::read_page, Kind::read_state, Kind::read_expert_uses}) {
    EXPECT_TRUE(is_answered(kind));
  }
  for (const Kind kind : {Kind::clear_state, Kind::copy_state, Kind::write_page, Kind::write_state,
                          Kind::reset_expert_uses}) {
    EXPECT_FALSE(is_answered(kind));
  }
}

}  // namespace
}  // namespace evener::engine
