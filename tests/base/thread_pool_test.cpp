#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace evener {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(size_t(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// More threads than a small machine has cores are fine: cpus repeat.
std::unique_ptr<ThreadPool> make_pool(size_t num_threads) {
  const std::vector<int> allowed = allowed_cpus();
  std::vector<int> cpus;
  for (size_t i = 0; i < num_threads; ++i) cpus.push_back(allowed[i % allowed.size()]);
  auto pool = ThreadPool::create(cpus);
  EXPECT_TRUE(pool.has_value());
  return std::move(pool).value();
}

TEST(ThreadPool, EveryThreadRunsTheBodyOnceAndWritesAreSeenByTheCallerAndByLaterRegions) {
  for (const size_t num_threads : {1, 2, 3, 5}) {
    const auto pool = make_pool(num_threads);
    ASSERT_EQ(pool->num_threads(), num_threads);
    std::vector<int> calls(num_threads);  // plain ints: tsan judges the hand-over
    for (int round = 1; round <= 300; ++round) {
      pool->run([&](size_t thread) { ++calls[thread]; });
      ASSERT_EQ(std::ranges::count(calls, round), ptrdiff_t(num_threads));
    }
  }
}

TEST(ThreadPool, AParallelForCoversEveryIndexOnceInRangesNotLongerThanTheGrain) {
  for (const size_t num_threads : {1, 2, 4}) {
    const auto pool = make_pool(num_threads);
    for (const size_t count : {0, 1, 7, 64, 1000}) {
      for (const size_t grain : {1, 3, 64, 5000}) {
        std::vector<int> visits(count);
        pool->parallel_for(count, grain, [&](size_t begin, size_t end) {
          EXPECT_LT(begin, end);
          EXPECT_LE(end - begin, grain);
          for (size_t i = begin; i < end; ++i) ++visits[i];
        });
        ASSERT_EQ(std::ranges::count(visits, 1), ptrdiff_t(count));
      }
    }
  }
}

TEST(ThreadPool, RegionsOfBothKindsMayFollowEachOtherWithoutAPause) {
  const auto pool = make_pool(3);
  size_t sum = 0;
  for (size_t round = 0; round < 2000; ++round) {
    std::atomic<size_t> indices = 0;
    pool->parallel_for(8, 1, [&](size_t begin, size_t) { indices += begin; });
    std::atomic<size_t> threads = 0;
    pool->run([&](size_t) { ++threads; });
    sum += indices + threads;
  }
  EXPECT_EQ(sum, 2000u * (28 + 3));
}

// Method: the body waits until all threads are inside, which none can fake alone.
TEST(ThreadPool, TheThreadsOfARunAreInsideAtTheSameTimeEvenAfterTheyHaveGoneToSleep) {
  const auto pool = make_pool(2);
  for (int round = 0; round < 3; ++round) {
    std::atomic<size_t> inside = 0;
    pool->run([&](size_t) {
      ++inside;
      while (inside < 2) std::this_thread::yield();
    });
    EXPECT_EQ(inside, 2u);
    std::atomic<bool> slept = false;  // longer than any spinning of the pool's
    std::thread([&] {
      for (int i = 0; i < 2'000'000; ++i) slept.store(true, std::memory_order_relaxed);
    }).join();
  }
}

TEST(ThreadPool, WorkersRunOnTheirCpusAndTheCallerIsLeftAlone) {
  const std::vector<int> before = allowed_cpus();
  const int cpus[] = {before.front(), before.back(), before.front()};
  const auto pool = std::move(ThreadPool::create(cpus)).value();
  std::vector<std::vector<int>> seen(3);
  pool->run([&](size_t thread) { seen[thread] = allowed_cpus(); });
  EXPECT_EQ(seen[0], before);
  EXPECT_EQ(seen[1], std::vector{before.back()});
  EXPECT_EQ(seen[2], std::vector{before.front()});
}

TEST(ThreadPool, TheCallerIsPinnedToTheFirstCpuWhereItAsksForIt) {
  const std::vector<int> before = allowed_cpus();
  const int cpus[] = {before.back(), before.front()};
  std::vector<int> seen;
  std::thread([&] {
    const auto pool = std::move(ThreadPool::create(cpus)).value();
    EXPECT_TRUE(pool->pin_caller().has_value());
    seen = allowed_cpus();
  }).join();
  EXPECT_EQ(seen, std::vector{before.back()});
  EXPECT_EQ(allowed_cpus(), before);
}

TEST(ThreadPool, ACpuOutsideTheAffinityMaskIsAnError) {
  const int cpus[] = {0, CPU_SETSIZE - 1};
  const auto pool = ThreadPool::create(cpus);
  ASSERT_FALSE(pool.has_value());
  EXPECT_EQ(pool.error().code, Code::invalid_argument);
  EXPECT_EQ(to_string(pool.error()),
            "cannot start threads: cpu 1023: this process may not run there\n"
            "  see `taskset -p` and the cpuset of the process' cgroup");
  EXPECT_FALSE(ThreadPool::create({}).has_value());
}

TEST(ThreadPoolDeathTest, ARegionInsideARegionAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto pool = make_pool(2);
        pool->run([&](size_t) { pool->parallel_for(2, 1, [](size_t, size_t) {}); });
      },
      "in_region_");
}

}  // namespace
}  // namespace evener
