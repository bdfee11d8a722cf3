// Ranks that are threads: what each call leaves on every rank, in both ways of summing, with pieces
// so small that every tensor takes several.
#include "parallel/thread_comm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <span>
#include <tuple>
#include <vector>

#include "parallel/rank_rig.h"

namespace evener::parallel {
namespace {

using device::Tensor;

struct Shape {
  size_t rows;
  size_t cols;
  size_t gap;
};

constexpr Shape kShapes[] = {{1, 1, 0},  {1, 2, 0},   {1, 3, 2},   {3, 1, 1},   {2, 7, 0},
                             {5, 16, 3}, {1, 100, 0}, {4, 33, 31}, {17, 65, 5}, {1, 1024, 0},
                             {0, 8, 0},  {3, 0, 4},   {7, 130, 0}, {9, 257, 7}, {1, 1500, 0}};

CommOptions small_pieces(size_t one_shot_bytes) {
  return {.one_shot_bytes = one_shot_bytes, .piece_bytes = 256};
}

constexpr size_t kAlways = size_t{1} << 40;

// What the tests run over: how many ranks, and how the host reaches their memory.
class Ranks : public testing::TestWithParam<std::tuple<size_t, Access>> {
 protected:
  static size_t num_ranks() { return std::get<0>(GetParam()); }
  static std::vector<RankComms> connect(const CommOptions& options) {
    return connect_threads({.num_stages = 1, .num_shards = num_ranks()}, options);
  }
  static RankRig rig() { return RankRig(std::get<1>(GetParam())); }
};

INSTANTIATE_TEST_SUITE_P(All, Ranks,
                         testing::Combine(testing::Values(2, 3, 4, 5),
                                          testing::Values(Access::in_place, Access::by_copies)));

TEST_P(Ranks, SumInRankOrderToTheSameBitsEverywhereInBothWays) {
  const CommOptions ways[] = {
      small_pieces(0), small_pieces(kAlways), CommOptions{}, {.one_shot_bytes = 0}};
  for (const CommOptions& options : ways) {
    auto ranks = connect(options);
    run_ranks(ranks, [&](RankComms& comms) {
      RankRig here = rig();
      size_t seed = 0;
      for (const Shape& shape : kShapes) {
        std::vector<std::vector<float>> terms;
        for (size_t rank = 0; rank < num_ranks(); ++rank) {
          terms.push_back(random_values(shape.rows * shape.cols, ++seed));
        }
        const Tensor x = here.put(shape.rows, shape.cols, terms[comms.rank], shape.gap);
        comms.shards->all_reduce(here.device(), x);
        EXPECT_TRUE(same_bits(here.values(x), sum_of(terms)))
            << "[" << shape.rows << ", " << shape.cols << "] on rank " << comms.rank;
        EXPECT_TRUE(here.gaps_are_whole(x));
      }
      EXPECT_TRUE(comms.status());
    });
  }
}

TEST_P(Ranks, GatherPartsOfAnyWidthOnAnyRank) {
  auto ranks = connect(small_pieces(0));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here = rig();
    for (size_t root = 0; root < num_ranks(); ++root) {
      for (const size_t rows : {size_t{0}, size_t{1}, size_t{5}}) {
        std::vector<std::vector<float>> parts;
        std::vector<size_t> widths;
        for (size_t rank = 0; rank < num_ranks(); ++rank) {
          widths.push_back((rank + root) % 3 * 37);  // some have none
          parts.push_back(random_values(rows * widths.back(), rank + 10));
        }
        size_t width = 0;
        for (const size_t cols : widths) width += cols;
        std::vector<float> expected;
        for (size_t row = 0; row < rows; ++row) {
          for (size_t rank = 0; rank < num_ranks(); ++rank) {
            const auto begin = parts[rank].begin() + std::ptrdiff_t(row * widths[rank]);
            expected.insert(expected.end(), begin, begin + std::ptrdiff_t(widths[rank]));
          }
        }
        const Tensor part = here.put(rows, widths[comms.rank], parts[comms.rank], 3);
        if (comms.rank != root) {
          comms.shards->gather(here.device(), root, part, {});
          continue;
        }
        const Tensor whole = here.empty(rows, width, 2);
        comms.shards->gather(here.device(), root, part, whole);
        EXPECT_TRUE(same_bits(here.values(whole), expected));
        EXPECT_TRUE(here.gaps_are_whole(whole));
      }
    }
    EXPECT_TRUE(comms.status());
  });
}

TEST_P(Ranks, BroadcastFromAnyRank) {
  auto ranks = connect(small_pieces(0));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here = rig();
    for (size_t root = 0; root < num_ranks(); ++root) {
      for (const Shape& shape : kShapes) {
        const auto values = random_values(shape.rows * shape.cols, root);
        const Tensor x = comms.rank == root ? here.put(shape.rows, shape.cols, values, shape.gap)
                                            : here.empty(shape.rows, shape.cols, shape.gap);
        comms.shards->broadcast(here.device(), root, x);
        EXPECT_TRUE(same_bits(here.values(x), values));
        EXPECT_TRUE(here.gaps_are_whole(x));
      }
    }
    EXPECT_TRUE(comms.status());
  });
}

// Each rank sends to the next in a ring before it receives, twice: what is on its way needs room.
TEST_P(Ranks, SendBeforeTheOtherReceivesAndKeepTheOrder) {
  auto ranks = connect(small_pieces(0));
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here = rig();
    const size_t next = (comms.rank + 1) % num_ranks();
    const size_t last = (comms.rank + num_ranks() - 1) % num_ranks();
    for (const Shape& shape : kShapes) {
      const size_t size = shape.rows * shape.cols;
      for (const size_t number : {size_t{1}, size_t{2}}) {
        const Tensor x = here.put(shape.rows, shape.cols,
                                  random_values(size, 10 * comms.rank + number), shape.gap);
        comms.shards->send(here.device(), next, x);
        here.device().write(std::vector<float>(size, 5), x);  // it is its own again
      }
      for (const size_t number : {size_t{1}, size_t{2}}) {
        const Tensor x = here.empty(shape.rows, shape.cols, shape.gap + 1);
        comms.shards->receive(here.device(), last, x);
        EXPECT_TRUE(same_bits(here.values(x), random_values(size, 10 * last + number)));
        EXPECT_TRUE(here.gaps_are_whole(x));
      }
    }
    EXPECT_TRUE(comms.status());
  });
}

// Every order of calls finds the memory of the one before in use or free as it should be.
TEST_P(Ranks, MakeHundredsOfCallsOfAllKindsInAnyOrder) {
  auto ranks = connect({.one_shot_bytes = 300, .piece_bytes = 128});
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here = rig();
    std::mt19937 random(7);  // the same on all ranks
    const size_t n = num_ranks();
    const Tensor x = here.empty(1, 200);
    const Tensor whole = here.empty(1, 200 * n);
    for (int call = 0; call < 500; ++call) {
      const size_t cols = 1 + random() % 200;
      const size_t root = random() % n;
      const size_t other = (root + 1) % n;
      const Tensor part = x.columns(0, cols);
      const auto mine = [&](size_t rank) {
        return std::vector<float>(cols, float(call + int(rank) * 10000));
      };
      here.device().write(mine(comms.rank), part);
      std::vector<float> expected = mine(comms.rank);
      switch (random() % 5) {
        case 0:
          comms.shards->all_reduce(here.device(), part);
          expected.assign(cols, float(call * int(n) + int(n * (n - 1) / 2) * 10000));
          break;
        case 1:
          comms.shards->broadcast(here.device(), root, part);
          expected = mine(root);
          break;
        case 2:
          if (comms.rank == root) comms.shards->send(here.device(), other, part);
          if (comms.rank == other) {
            comms.shards->receive(here.device(), root, part);
            expected = mine(root);
          }
          break;
        case 3:
          comms.shards->gather(here.device(), root, part, whole.columns(0, n * cols));
          if (comms.rank == root) {
            ASSERT_EQ(here.values(whole.columns((n - 1) * cols, cols)), mine(n - 1));
          }
          break;
        default:
          here.device().write(mine(0), part);
          comms.shards->verify_same(here.device(), part);
          expected = mine(0);
      }
      ASSERT_EQ(here.values(part), expected) << "call " << call;
    }
    EXPECT_TRUE(comms.status());
  });
}

// The part of the root may lie in the whole already.
TEST(ThreadComm, GathersIntoTheWholeThatHoldsThePart) {
  auto ranks = connect_threads({.num_stages = 1, .num_shards = 2}, {});
  run_ranks(ranks, [](RankComms& comms) {
    RankRig here;
    const std::vector<float> mine(3, float(comms.rank + 1));
    const Tensor whole = here.empty(1, 6);
    const Tensor part = whole.columns(3 * comms.rank, 3);
    here.device().write(mine, part);
    comms.shards->gather(here.device(), 1, part, whole);
    if (comms.rank == 1) {
      EXPECT_THAT(here.values(whole), testing::ElementsAre(1, 1, 1, 2, 2, 2));
    }
  });
}

// 2 stages x 3 shards: a rank's shards have its layers, its stages its number.
TEST(ThreadComm, GroupsOfAGridAreItsRowsAndColumns) {
  const Grid grid{.num_stages = 2, .num_shards = 3};
  auto ranks = connect_threads(grid, {});
  ASSERT_EQ(ranks.size(), 6);
  run_ranks(ranks, [&](RankComms& comms) {
    RankRig here;
    EXPECT_EQ(comms.shards->size(), 3);
    EXPECT_EQ(comms.stages->size(), 2);
    EXPECT_EQ(comms.shards->rank(), grid.shard_of(comms.rank));
    EXPECT_EQ(comms.stages->rank(), grid.stage_of(comms.rank));
    const std::vector<float> mine = {float(size_t{1} << comms.rank)};
    const Tensor x = here.put(1, 1, mine);
    comms.shards->all_reduce(here.device(), x);
    EXPECT_EQ(here.values(x)[0], comms.rank < 3 ? 0b111 : 0b111000);
    here.device().write(mine, x);
    comms.stages->all_reduce(here.device(), x);
    EXPECT_EQ(here.values(x)[0], float(0b1001 << grid.shard_of(comms.rank)));
    EXPECT_TRUE(comms.status());
  });
}

TEST(ThreadComm, OneRankIsAloneInBothGroups) {
  const auto ranks = connect_threads({}, {});
  ASSERT_EQ(ranks.size(), 1);
  EXPECT_EQ(ranks[0].shards->size(), 1);
  EXPECT_EQ(ranks[0].stages->size(), 1);
  EXPECT_TRUE(ranks[0].status());
}

}  // namespace
}  // namespace evener::parallel
