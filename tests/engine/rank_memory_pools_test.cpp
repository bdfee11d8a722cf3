// How memory is shared out among several ranks, by hand-worked sums.
#include "engine/rank_memory_pools.h"

#include <gtest/gtest.h>

#include "device/vulkan/instance.h"

namespace evener::engine {
namespace {

constexpr size_t kMebi = size_t{1} << 20;

CapacityRequest common_request() {
  return {.where = "m.gguf", .page_size = 64, .context_length = 64 * 16, .max_sequences = 4};
}

RankNeed need_of(size_t weights) {
  return {.weight_bytes = weights * kMebi,
          .scratch_bytes = 10 * kMebi,
          .bytes_per_page = kMebi,
          .bytes_per_slot = 0};
}

TEST(UsableMemory, IsWhatIsFreeAndAllowed) {
  EXPECT_EQ(usable_memory(1000, {}), 900u);
  EXPECT_EQ(usable_memory(1000, {.bytes_max = 500}), 500u);
  EXPECT_EQ(usable_memory(1000, {.bytes_max = 5000}), 1000u);
  EXPECT_EQ(usable_memory(1000, {.bytes_max = 500, .taken_bytes = 100, .reserved_bytes = 50}),
            350u);
  EXPECT_EQ(usable_memory(1000, {.bytes_max = 500, .taken_bytes = 600}), 0u);
  EXPECT_EQ(usable_memory(1000, {.reserved_bytes = 2000}), 0u);
}

TEST(UsableMemory, OfACardIsAllThatIsFreeThere) {
  const device::DeviceMemory card{.place = "vulkan:0", .total_bytes = 2000, .free_bytes = 1000};
  EXPECT_EQ(usable_memory(card, {.reserved_bytes = 50}), 1000u) << "that lies on the host";
  EXPECT_EQ(usable_memory(card, {.bytes_max = 500, .taken_bytes = 100, .reserved_bytes = 50}),
            400u);
  EXPECT_EQ(usable_memory(card, {.bytes_max = 5000}), 1000u);
  device::DeviceMemory host = card;
  host.is_of_host = true;
  EXPECT_EQ(usable_memory(host, {.reserved_bytes = 50}), 850u);
}

TEST(RankCapacity, OneRankIsAsBefore) {
  CapacityRequest request = common_request();
  const RankNeed need = need_of(100);
  const MemoryPool pool{.name = "cpu:0", .available_bytes = 126 * kMebi, .ranks = {0}};
  const auto capacity = plan_capacity(request, {&need, 1}, {&pool, 1});
  ASSERT_TRUE(capacity.has_value()) << to_string(capacity.error());
  request.weight_bytes = 100 * kMebi;
  request.scratch_bytes = 10 * kMebi;
  request.bytes_per_page = kMebi;
  request.available_bytes = 126 * kMebi;
  EXPECT_EQ(capacity->num_pages, plan_capacity(request)->num_pages);
  EXPECT_EQ(capacity->num_pages, 16u);
}

TEST(RankCapacity, TheSmallestMemorySetsTheNumberOfPages) {
  const RankNeed needs[] = {need_of(100), need_of(50)};
  const MemoryPool pools[] = {{.name = "cpu:0", .available_bytes = 1000 * kMebi, .ranks = {0}},
                              {.name = "cpu:1", .available_bytes = 72 * kMebi, .ranks = {1}}};
  const auto capacity = plan_capacity(common_request(), needs, pools);
  ASSERT_TRUE(capacity.has_value()) << to_string(capacity.error());
  EXPECT_EQ(capacity->num_pages, 12u);
  EXPECT_EQ(capacity->admissible_tokens, 768u);
  EXPECT_EQ(capacity->limit, LengthLimit::memory);
}

TEST(RankCapacity, RanksOfOneMemoryAddUp) {
  const RankNeed needs[] = {need_of(100), need_of(50)};
  const MemoryPool both{
      .name = "cpu:0[0], cpu:0[1]", .available_bytes = 210 * kMebi, .ranks = {0, 1}};
  const auto capacity = plan_capacity(common_request(), needs, {&both, 1});
  ASSERT_TRUE(capacity.has_value()) << to_string(capacity.error());
  EXPECT_EQ(capacity->num_pages, 20u);  // of two MiB each in the 40 MiB that are left
}

TEST(RankCapacity, SaysWhichDevicesHaveTooLittleAndByHowMuch) {
  const RankNeed needs[] = {need_of(100), need_of(50)};
  const MemoryPool pools[] = {{.name = "cpu:0", .available_bytes = 1000 * kMebi, .ranks = {0}},
                              {.name = "cpu:1", .available_bytes = 60 * kMebi, .ranks = {1}}};
  const auto capacity = plan_capacity(common_request(), needs, pools);
  ASSERT_FALSE(capacity.has_value());
  EXPECT_EQ(to_string(capacity.error()),
            "cannot load model: m.gguf, on cpu:1: needs 68.0 MiB (50.0 MiB weights + 10.0 MiB "
            "scratch + 8.00 MiB for one context of 512 tokens), 60.0 MiB are available: 8.00 MiB "
            "too few\n  free memory, ask for a shorter context, take a smaller quantisation, or "
            "share the "
            "model between devices (--devices)");
}

TEST(RankCapacity, RanksWithoutStatesSetNoLimitToThem) {
  RankNeed needs[] = {need_of(10), need_of(10)};
  needs[0].bytes_per_slot = kMebi;
  const MemoryPool pools[] = {{.name = "cpu:0", .available_bytes = 500 * kMebi, .ranks = {0}},
                              {.name = "cpu:1", .available_bytes = 500 * kMebi, .ranks = {1}}};
  const auto capacity = plan_capacity(common_request(), needs, pools);
  ASSERT_TRUE(capacity.has_value()) << to_string(capacity.error());
  EXPECT_GE(capacity->num_slots, capacity->max_sequences);
}

TEST(MemoryPools, GroupsOfOneNodeShareItsMemory) {
  const auto pools = memory_pools({"cpu:0[0]", "cpu:0"}, {});
  ASSERT_TRUE(pools.has_value()) << to_string(pools.error());
  ASSERT_EQ(pools->size(), 1u);
  EXPECT_EQ(pools->front().name, "cpu:0[0], cpu:0");
  EXPECT_EQ(pools->front().ranks, (std::vector<size_t>{0, 1}));
  EXPECT_GT(pools->front().available_bytes, 0u);
  EXPECT_FALSE(memory_pools({"gpu:0"}, {}).has_value());
}

// With whatever adapter there is: a software one on most machines that build.
TEST(MemoryPools, DevicesOnOneAdapterShareItsMemory) {
  const auto instance = device::vulkan::Instance::get();
  if (!instance) GTEST_SKIP() << to_string(instance.error());
  const auto pools = memory_pools({"vulkan:0", "cpu:0", "vulkan:0#1"}, {});
  ASSERT_TRUE(pools.has_value()) << to_string(pools.error());
  const bool is_software = (*instance)->adapters()[0].is_software();
  ASSERT_EQ(pools->size(), is_software ? 3u : 2u);
  EXPECT_EQ((*pools)[0].name, "vulkan:0, vulkan:0#1");
  EXPECT_EQ((*pools)[0].ranks, (std::vector<size_t>{0, 2}));
  EXPECT_EQ((*pools)[1].name, "cpu:0");
  EXPECT_EQ((*pools)[1].ranks, (std::vector<size_t>{1}));
  if (!is_software) return;
  EXPECT_EQ((*pools)[2].name, "all devices");
  EXPECT_EQ((*pools)[2].ranks, (std::vector<size_t>{0, 1, 2}));
}

}  // namespace
}  // namespace evener::engine
