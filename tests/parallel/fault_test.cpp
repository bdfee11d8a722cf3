// Faults on purpose, and what the other ranks and the self-test say of them.
#include "parallel/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "parallel/rank_rig.h"
#include "parallel/self_test.h"
#include "parallel/thread_comm.h"

namespace evener::parallel {
namespace {

using device::Tensor;
using testing::HasSubstr;

std::string message_of(const Status& status) {
  return status ? "no error" : to_string(status.error());
}

TEST(ParseFault, TakesItsFieldsInAnyOrder) {
  const auto plan = parse_fault("kind=hang,rank=1,after=100");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rank, 1);
  EXPECT_EQ(plan->after, 100);
  EXPECT_EQ(plan->kind, FaultKind::hang);
  EXPECT_EQ(parse_fault("rank=0,kind=exit")->after, 0);
  EXPECT_EQ(parse_fault("rank=0,kind=corrupt")->kind, FaultKind::corrupt);
  EXPECT_EQ(parse_fault("rank=0,kind=abort")->kind, FaultKind::abort);
}

TEST(ParseFault, NamesWhatItDoesNotUnderstand) {
  const auto error = [](std::string_view text) {
    const auto plan = parse_fault(text);
    return plan ? "a plan" : to_string(plan.error());
  };
  EXPECT_THAT(error(""), HasSubstr("which rank"));
  EXPECT_THAT(error("rank=1"), HasSubstr("which kind"));
  EXPECT_THAT(error("kind=hang"), HasSubstr("which rank"));
  EXPECT_THAT(error("rank"), HasSubstr("'rank' has no value"));
  EXPECT_THAT(error("rank=1,rank=1,kind=hang"), HasSubstr("'rank=1' says nothing"));
  EXPECT_THAT(error("rank=-1,kind=hang"), HasSubstr("'rank=-1' says nothing"));
  EXPECT_THAT(error("rank=1x,kind=hang"), HasSubstr("'rank=1x' says nothing"));
  EXPECT_THAT(error("rank=99999999999999999999,kind=hang"), HasSubstr("says nothing"));
  EXPECT_THAT(error("rank=1,kind=sulk\n"), HasSubstr("'kind=sulk\\n' says nothing"));
  EXPECT_THAT(error("rank=1,kind=hang,,"), HasSubstr("'' has no value"));
}

// Three ranks sum until the group breaks; what each of them is told.
std::vector<std::string> sum_until_broken(const FaultPlan& plan, const CommOptions& options,
                                          int* num_sums = nullptr) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 3}, options);
  const auto gate = std::make_shared<HangGate>();
  for (RankComms& comms : ranks) inject_fault(comms, plan, gate);
  std::vector<std::string> messages(3);
  std::latch healthy_are_back(2);
  std::thread opener([&] {
    healthy_are_back.wait();
    gate->open();
  });
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    const Tensor x = here.empty(1, 10);
    int sums = 0;
    for (; comms.status(); ++sums) {
      here.device().write(std::vector<float>(10, 1), x);
      comms.shards->all_reduce(here.device(), x);
      comms.shards->verify_same(here.device(), x);
    }
    messages[comms.rank] = message_of(comms.status());
    if (comms.rank == plan.rank) return;
    if (num_sums != nullptr && comms.rank == 0) *num_sums = sums;
    healthy_are_back.count_down();
  });
  opener.join();
  return messages;
}

TEST(Fault, ARankThatExitsIsNamedAtOnce) {
  int num_sums = 0;
  const auto messages = sum_until_broken({.rank = 2, .after = 100, .kind = FaultKind::exit},
                                         {.deadline = std::chrono::hours(1)}, &num_sums);
  EXPECT_THAT(messages[0], HasSubstr("rank 2: it has ended"));
  EXPECT_THAT(messages[1], HasSubstr("rank 2: it has ended"));
  EXPECT_THAT(messages[2], HasSubstr("it was told to end"));
  EXPECT_GE(num_sums, 50);
  EXPECT_LE(num_sums, 51);
}

TEST(Fault, ARankThatHangsIsNamedAfterTheDeadline) {
  const auto messages = sum_until_broken({.rank = 1, .after = 7, .kind = FaultKind::hang},
                                         {.deadline = std::chrono::milliseconds(200)});
  for (const std::string& message : messages) {
    EXPECT_THAT(message, HasSubstr("rank 1: no sign of life"));
    EXPECT_THAT(message, HasSubstr("waits for it in comparison 4"));
  }
}

TEST(Fault, ARankThatComputesOtherNumbersIsNamed) {
  const auto messages = sum_until_broken({.rank = 0, .after = 20, .kind = FaultKind::corrupt},
                                         {.deadline = std::chrono::hours(1)});
  for (const std::string& message : messages) {
    EXPECT_THAT(message, HasSubstr("rank 0: it has computed other numbers"));
  }
}

Grid square() { return {.num_stages = 2, .num_shards = 2}; }

TEST(SelfTest, PassesOnSoundRanksOfAnyGridAndDevice) {
  for (const Grid& grid : {Grid{}, Grid{1, 3}, Grid{3, 1}, square()}) {
    const CommOptions options{.one_shot_bytes = 512, .piece_bytes = 1024};
    auto ranks = connect_threads(grid, options);
    run_ranks(ranks, [&](RankComms& comms) {
      RankRig here(comms.rank == 1 ? Access::by_copies : Access::in_place);
      EXPECT_EQ(message_of(self_test(comms, here.device(), options)), "no error");
    });
  }
}

// Wherever the flipped bit is, the rank that has it says so.
TEST(SelfTest, NamesTheRankThatGotWrongData) {
  const CommOptions options{.one_shot_bytes = 512, .piece_bytes = 1024};
  for (uint64_t after = 0; after < 40; after += 3) {
    auto ranks = connect_threads(square(), options);
    inject_fault(ranks[3], {.rank = 3, .after = after, .kind = FaultKind::corrupt}, nullptr);
    run_ranks(ranks, [&](RankComms& comms) {
      RankRig here;
      const std::string message = message_of(self_test(comms, here.device(), options));
      EXPECT_THAT(message, HasSubstr("cannot test the links between ranks: rank 3: "));
      EXPECT_THAT(message, HasSubstr(" bytes left "));
    });
  }
}

}  // namespace
}  // namespace evener::parallel
