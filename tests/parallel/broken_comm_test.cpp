// What breaks a group: members that are late, end, wait for each other, differ, or are in other
// calls. Every rank gets the one error that names them, and no call waits after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <future>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "parallel/rank_rig.h"
#include "parallel/thread_comm.h"

namespace evener::parallel {
namespace {

using device::Tensor;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr auto kShort = std::chrono::milliseconds(200);

CommOptions options_of(std::chrono::milliseconds deadline, size_t num_ranks = 3) {
  CommOptions options{.deadline = deadline};
  for (size_t rank = 0; rank < num_ranks; ++rank) {
    options.names.push_back("rank " + std::to_string(rank) + " (cpu:" + std::to_string(rank) + ")");
  }
  return options;
}

std::string error_of(const RankComms& comms) {
  const Status status = comms.status();
  if (status) return "no error";
  EXPECT_EQ(status.error().code, Code::unavailable);
  return to_string(status.error());
}

// All calls there are, which would wait for ever.
void call_all(RankComms& comms, RankRig& here) {
  const Tensor x = here.empty(1, 4);
  Comm& comm = *comms.shards;
  const size_t other = (comm.rank() + 1) % comm.size();
  comm.all_reduce(here.device(), x);
  comm.broadcast(here.device(), other, x);
  comm.receive(here.device(), other, x);
  for (int i = 0; i < 5; ++i) comm.send(here.device(), other, x);
  comm.gather(here.device(), comm.rank(), x, here.empty(1, 12));
  comm.verify_same(here.device(), x);
}

TEST(BrokenComm, ALateRankIsNamedOnAllRanksAndNothingWaitsAfterwards) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 3}, options_of(kShort));
  std::latch others_are_back(2);
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    comms.begin_pass(7);
    const Tensor x = here.empty(2, 8);
    comms.shards->all_reduce(here.device(), x);
    if (comms.rank == 1) {
      others_are_back.wait();  // as if it hung
    } else {
      comms.shards->all_reduce(here.device(), x);
      others_are_back.count_down();
    }
    call_all(comms, here);
    EXPECT_THAT(error_of(comms),
                AllOf(HasSubstr("compute with all ranks: rank 1 (cpu:1): no sign of life for 0."),
                      HasSubstr("waits for it in all-reduce 2 of pass 7")));
  });
}

// A rank that waits is not late: the one at the end of the chain is.
TEST(BrokenComm, OfAChainOfWaitingRanksTheLastIsNamed) {
  auto ranks = connect_threads({.num_stages = 3, .num_shards = 1}, options_of(kShort));
  std::latch others_are_back(2);
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    const Tensor x = here.empty(1, 8);
    if (comms.rank == 2) {
      others_are_back.wait();
    } else {
      comms.stages->receive(here.device(), comms.rank + 1, x);
      others_are_back.count_down();
    }
    EXPECT_THAT(error_of(comms), AllOf(HasSubstr("ranks: rank 2 (cpu:2): no sign of life"),
                                       HasSubstr("rank 1 (cpu:1) waits for it in receive 1")));
  });
}

TEST(BrokenComm, ARankThatComesLateButLivesIsWaitedFor) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 2}, options_of(kShort));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    const Tensor x = here.empty(1, 8);
    if (comms.rank == 1) {
      const auto end = std::chrono::steady_clock::now() + 3 * kShort;
      while (std::chrono::steady_clock::now() < end) comms.beat();
    }
    comms.shards->all_reduce(here.device(), x);
    EXPECT_EQ(error_of(comms), "no error");
  });
}

TEST(BrokenComm, RanksThatWaitForEachOtherAreNamed) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 2}, options_of(kShort));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    comms.shards->receive(here.device(), 1 - comms.rank, here.empty(1, 8));
    EXPECT_THAT(error_of(comms),
                AllOf(HasSubstr("rank 0 (cpu:0)"), HasSubstr(" and "), HasSubstr("rank 1 (cpu:1)"),
                      HasSubstr("they wait for each other"), HasSubstr("receive 1")));
  });
}

// The deadline is so long that only the news itself can end the wait.
TEST(BrokenComm, ARankThatEndsTellsItsPeersAtOnce) {
  auto ranks =
      connect_threads({.num_stages = 2, .num_shards = 2}, options_of(std::chrono::hours(1), 4));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    if (comms.rank == 3) {
      comms = {};
      return;
    }
    Comm& comm = comms.rank == 1 ? *comms.stages : *comms.shards;
    const size_t other = 1 - comm.rank();
    for (int i = 0; i < 3; ++i) comm.receive(here.device(), other, here.empty(1, 1));
    EXPECT_THAT(error_of(comms), HasSubstr("rank 3 (cpu:3): it has ended"));
  });
}

TEST(BrokenComm, AnotherThreadCanBreakIt) {
  auto ranks =
      connect_threads({.num_stages = 1, .num_shards = 2}, options_of(std::chrono::hours(1)));
  auto waiting = std::async(std::launch::async, [&] {
    RankRig here;
    ranks[0].shards->all_reduce(here.device(), here.empty(1, 9));
  });
  const Error error{.code = Code::unavailable,
                    .doing = "run",
                    .where = "here",
                    .why = "it is enough",
                    .remedy = ""};
  ranks[1].break_with(error);
  waiting.wait();
  EXPECT_EQ(error_of(ranks[0]), "cannot run: here: it is enough");
  ranks[0].break_with({});
  EXPECT_EQ(error_of(ranks[1]), "cannot run: here: it is enough") << "the first error stays";
}

TEST(BrokenComm, ARankWithOtherNumbersIsNamedAndWithTwoBothAre) {
  for (const size_t num_ranks : {size_t{2}, size_t{3}, size_t{4}}) {
    auto ranks = connect_threads({.num_stages = 1, .num_shards = num_ranks},
                                 options_of(std::chrono::hours(1), 4));
    run_ranks(ranks, [&](RankComms& comms) {
      RankRig here;
      std::vector<float> values = random_values(1000, 3);
      const size_t gap = comms.rank;  // what lies between the rows does not count
      comms.shards->verify_same(here.device(), here.put(10, 100, values, gap));
      EXPECT_EQ(error_of(comms), "no error");
      if (comms.rank == 1) values[999] = std::nextafter(values[999], 1e9F);
      comms.shards->verify_same(here.device(), here.put(10, 100, values));
      // The slower ranks may still be on their way to the same finding.
      EXPECT_THAT(error_of(comms), HasSubstr("rank 1 (cpu:1)"));
      EXPECT_THAT(error_of(comms), HasSubstr("computed other numbers"));
      EXPECT_EQ(error_of(comms).find("rank 0") != std::string::npos, num_ranks == 2);
      EXPECT_THAT(error_of(comms), Not(HasSubstr("rank 2")));
    });
  }
}

TEST(BrokenComm, RanksInDifferentCallsAreNamedWithTheirCalls) {
  auto ranks =
      connect_threads({.num_stages = 1, .num_shards = 2}, options_of(std::chrono::hours(1)));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    comms.shards->all_reduce(here.device(), here.empty(1, 8 + comms.rank));
    EXPECT_THAT(error_of(comms), AllOf(HasSubstr("out of step"), HasSubstr("all-reduce of [1, 8]"),
                                       HasSubstr("all-reduce of [1, 9]")));
  });
}

// A rank goes on in its own time after all others and the grid itself are gone.
TEST(BrokenComm, ARankThatWakesUpLaterFindsItsMemory) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 2}, options_of(kShort, 2));
  std::latch gone(1);
  std::thread sleeper([&gone, comms = std::move(ranks[1])]() mutable {
    RankRig here;
    gone.wait();
    call_all(comms, here);
    EXPECT_THAT(error_of(comms), HasSubstr("rank 1 (cpu:1): no sign of life"));
  });
  {
    RankRig here;
    ranks[0].shards->all_reduce(here.device(), here.empty(1, 8));
    EXPECT_THAT(error_of(ranks[0]), HasSubstr("rank 1 (cpu:1): no sign of life"));
  }
  ranks.clear();
  gone.count_down();
  sleeper.join();
}

TEST(Heartbeats, TellHowLongARankHasBeenSilent) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 2}, {});
  const auto& heartbeats = *ranks[0].heartbeats;
  const auto first = heartbeats.last(1);
  while (heartbeats.silent_for(1) == std::chrono::nanoseconds(0)) {
  }
  ranks[1].beat();
  EXPECT_GT(heartbeats.last(1), first);
  ranks[1].begin_pass(5);
  EXPECT_EQ(heartbeats.pass(1), 5);
  EXPECT_EQ(heartbeats.pass(0), 0);
}

}  // namespace
}  // namespace evener::parallel
