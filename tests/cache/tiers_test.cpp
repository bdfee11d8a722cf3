// What the tiers in RAM and on disk keep, for how long, and in which order they give it up.
#include "cache/tiers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cache/tier_rig.h"

namespace evener::cache {
namespace {

constexpr size_t kEntryBytes = 5000;
constexpr uint64_t kInMemory = kEntryBytes + 256;  // with its bookkeeping
constexpr uint64_t kOnDisk = 8192;                 // with its header, in whole blocks

std::unique_ptr<Tiers> in_memory(uint64_t bytes_max) {
  return Tiers::create({.memory_bytes_max = bytes_max, .disk = {}}, {});
}

std::unique_ptr<Tiers> on_both(const ScratchFolder& folder, uint64_t memory_bytes_max,
                               uint64_t disk_bytes_max = 1 << 30) {
  return Tiers::create(
      {.memory_bytes_max = memory_bytes_max,
       .disk = {.folder = folder.path(), .bytes_max = disk_bytes_max, .identity = "model"}},
      {});
}

TEST(RecentMap, KnowsTheOrderOfUseAndTheSum) {
  RecentMap<int, char> map;
  map.insert(1, 10, 'a');
  map.insert(2, 20, 'b');
  map.insert(3, 30, 'c');
  map.touch(1);
  EXPECT_EQ(map.oldest().key, 2);
  EXPECT_EQ(map.size_bytes(), 60U);
  EXPECT_TRUE(map.erase(2));
  EXPECT_FALSE(map.erase(2));
  EXPECT_EQ(map.oldest().key, 3);
  EXPECT_EQ(map.size_bytes(), 40U);
  EXPECT_EQ(map.find(1)->value, 'a');
  EXPECT_EQ(map.find(2), nullptr);
  map.clear();
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.size_bytes(), 0U);
}

TEST(Tiers, WithoutABudgetNothingIsKeptNorAskedFor) {
  const auto tiers = in_memory(0);
  EXPECT_FALSE(tiers->wants(key_of(1)));
  bool filled = false;
  tiers->put(key_of(1), kEntryBytes, [&](std::span<std::byte>) { return filled = true; });
  EXPECT_FALSE(filled);
  EXPECT_FALSE(tiers->contains(key_of(1)));
  EXPECT_FALSE(tiers->get(key_of(1), kEntryBytes));
  EXPECT_EQ(tiers->stats().num_misses, 1U);
}

TEST(Tiers, WhatCannotBeFilledIsNotKept) {
  const auto tiers = in_memory(1 << 20);
  tiers->put(key_of(1), kEntryBytes, [](std::span<std::byte>) { return false; });
  EXPECT_FALSE(tiers->contains(key_of(1)));
  EXPECT_EQ(tiers->stats().memory_bytes, 0U);
}

TEST(Tiers, WhatIsPutComesBackUnderItsKeyAndKindAlone) {
  const auto tiers = in_memory(1 << 20);
  EXPECT_TRUE(tiers->wants(key_of(1)));
  put(*tiers, 1, kEntryBytes);
  EXPECT_TRUE(tiers->contains(key_of(1)));
  EXPECT_FALSE(tiers->wants(key_of(1)));
  EXPECT_FALSE(tiers->contains(key_of(1, EntryKey::Kind::state)));
  EXPECT_FALSE(tiers->contains(key_of(2)));
  EXPECT_TRUE(has(*tiers, 1, kEntryBytes));
  tiers->erase(key_of(1));
  EXPECT_FALSE(tiers->contains(key_of(1)));
  EXPECT_TRUE(tiers->wants(key_of(1)));
  EXPECT_EQ(tiers->stats().memory_bytes, 0U);
}

TEST(Tiers, MemoryGivesUpWhatWasUsedLeastRecently) {
  const auto tiers = in_memory(3 * kInMemory);
  for (const uint64_t number : {1U, 2U, 3U}) put(*tiers, number, kEntryBytes);
  EXPECT_TRUE(has(*tiers, 1, kEntryBytes));
  put(*tiers, 4, kEntryBytes);
  EXPECT_FALSE(tiers->contains(key_of(2)));
  for (const uint64_t number : {1U, 3U, 4U})
    EXPECT_TRUE(has(*tiers, number, kEntryBytes)) << number;
  EXPECT_EQ(tiers->stats().memory_bytes, 3 * kInMemory);
}

TEST(Tiers, AnEntryLargerThanTheBudgetMovesNothing) {
  const auto tiers = in_memory(3 * kInMemory);
  put(*tiers, 1, kEntryBytes);
  put(*tiers, 2, 3 * kInMemory - 255);
  EXPECT_FALSE(tiers->contains(key_of(2)));
  EXPECT_TRUE(has(*tiers, 1, kEntryBytes));
  put(*tiers, 3, 3 * kInMemory - 256);
  EXPECT_TRUE(tiers->contains(key_of(3)));
  EXPECT_FALSE(tiers->contains(key_of(1)));
}

// A caller that still reads what memory has given up meanwhile keeps it.
TEST(Tiers, BytesOutliveTheirEntry) {
  const auto tiers = in_memory(kInMemory);
  put(*tiers, 1, kEntryBytes);
  const EntryBytes bytes = tiers->get(key_of(1), kEntryBytes);
  put(*tiers, 2, kEntryBytes);
  EXPECT_FALSE(tiers->contains(key_of(1)));
  EXPECT_TRUE(std::ranges::equal(bytes.span(), content(1, kEntryBytes)));
}

// Method: random calls beside a plain map of what was put. What is there must be right, and both
// budgets hold after every call.
TEST(Tiers, HoldWhatWasPutAndTheirBudgetsWhateverIsCalled) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const ScratchFolder folder;
    std::mt19937 random(seed);
    constexpr uint64_t kMemory = 40'000;
    constexpr uint64_t kDisk = 100'000;
    auto tiers = on_both(folder, kMemory, kDisk);
    std::map<uint64_t, size_t> sizes;
    size_t num_hits = 0;
    for (int round = 0; round < 600; ++round) {
      const uint64_t number = random() % 40;
      const size_t size = sizes.try_emplace(number, random() % 12'000).first->second;
      const bool there = tiers->contains(key_of(number));
      switch (random() % 8) {
        case 0:
          tiers->erase(key_of(number));
          ASSERT_FALSE(tiers->contains(key_of(number)));
          break;
        case 1:
          if (random() % 10 == 0) tiers.reset();
          if (!tiers) tiers = on_both(folder, kMemory, kDisk);
          break;
        case 2:
        case 3:
        case 4:
          ASSERT_EQ(has(*tiers, number, size), there) << seed << " " << round;
          num_hits += there ? 1 : 0;
          break;
        default:
          put(*tiers, number, size);
          ASSERT_TRUE(has(*tiers, number, size)) << seed << " " << round;
      }
      const TierStats stats = tiers->stats();
      ASSERT_LE(stats.memory_bytes, kMemory);
      ASSERT_LE(stats.disk.bytes, kDisk);
    }
    EXPECT_GT(num_hits, 20U);
    EXPECT_EQ(tiers->stats().disk.num_failed_reads, 0U);
    tiers->finish();
    EXPECT_EQ(folder.names(".evkv").size(), tiers->stats().disk.num_entries);
    uintmax_t bytes = 0;
    for (const std::string& name : folder.names(".evkv")) bytes += file_size(folder.path() / name);
    EXPECT_LE(bytes, kDisk);
  }
}

TEST(DiskTier, KeepsEntriesAcrossARestart) {
  const ScratchFolder folder;
  {
    const auto disk = open_disk(folder.path());
    put(*disk, 1, kEntryBytes);
    put(*disk, 2, 0);
    put(*disk, 3, 2 << 20);
    EXPECT_TRUE(has(*disk, 1, kEntryBytes));  // written or not
  }
  const auto disk = open_disk(folder.path());
  EXPECT_EQ(disk->stats().num_entries, 3U);
  EXPECT_TRUE(disk->contains(key_of(1)));
  EXPECT_FALSE(disk->contains(key_of(1, EntryKey::Kind::state)));
  EXPECT_TRUE(has(*disk, 1, kEntryBytes));
  EXPECT_TRUE(has(*disk, 2, 0));
  EXPECT_TRUE(has(*disk, 3, 2 << 20));
  EXPECT_FALSE(has(*disk, 4, kEntryBytes));
  EXPECT_EQ(disk->stats().num_failed_reads, 0U);
}

TEST(DiskTier, ItsBudgetHoldsAndTheOrderOfUseOutlivesARestart) {
  const ScratchFolder folder;
  {
    const auto disk = open_disk(folder.path(), 4 * kOnDisk);
    for (const uint64_t number : {1U, 2U, 3U, 4U}) put(*disk, number, kEntryBytes);
    disk->finish();
    EXPECT_TRUE(has(*disk, 1, kEntryBytes));
    disk->touch(key_of(3));
  }
  {
    const auto disk = open_disk(folder.path(), 4 * kOnDisk);
    put(*disk, 5, kEntryBytes);
    put(*disk, 6, kEntryBytes);
    disk->finish();
    EXPECT_EQ(disk->stats().bytes, 4 * kOnDisk);
    EXPECT_EQ(disk->stats().num_evicted, 2U);
    EXPECT_FALSE(disk->contains(key_of(2)));
    EXPECT_FALSE(disk->contains(key_of(4)));
    EXPECT_EQ(folder.names(".evkv").size(), 4U);
  }
  // A smaller budget holds at once.
  const auto disk = open_disk(folder.path(), 3 * kOnDisk - 1);
  EXPECT_EQ(disk->stats().bytes, 2 * kOnDisk);
  EXPECT_TRUE(has(*disk, 5, kEntryBytes));
  EXPECT_TRUE(has(*disk, 6, kEntryBytes));
}

TEST(DiskTier, EntriesOfAnotherModelAreNotFoundButCountAndGoInTurn) {
  const ScratchFolder folder;
  {
    const auto disk = open_disk(folder.path(), 1 << 20, "model a");
    put(*disk, 1, kEntryBytes);
    put(*disk, 2, kEntryBytes);
  }
  {
    const auto disk = open_disk(folder.path(), 3 * kOnDisk, "model b");
    EXPECT_EQ(disk->stats().num_entries, 0U);
    EXPECT_EQ(disk->stats().num_foreign, 2U);
    EXPECT_EQ(disk->stats().bytes, 2 * kOnDisk);
    EXPECT_FALSE(disk->contains(key_of(1)));
    put(*disk, 1, kEntryBytes);
    put(*disk, 7, kEntryBytes);
    disk->finish();
    EXPECT_EQ(disk->stats().num_foreign, 1U);
    EXPECT_EQ(disk->stats().num_entries, 2U);
  }
  const auto disk = open_disk(folder.path(), 1 << 20, "model a");
  EXPECT_FALSE(disk->contains(key_of(1)));
  EXPECT_TRUE(has(*disk, 2, kEntryBytes));
}

TEST(DiskTier, AReadOfAnotherSizeFindsNothing) {
  const ScratchFolder folder;
  {
    put(*open_disk(folder.path()), 1, kEntryBytes);
  }
  const auto disk = open_disk(folder.path());
  EXPECT_FALSE(disk->get(key_of(1), kEntryBytes + 1));
  EXPECT_FALSE(disk->contains(key_of(1)));
}

TEST(DiskTier, AnEntryThatWasErasedAndPutAgainIsThere) {
  const ScratchFolder folder;
  const auto disk = open_disk(folder.path());
  for (int round = 0; round < 20; ++round) {
    put(*disk, 1, kEntryBytes);
    ASSERT_TRUE(has(*disk, 1, kEntryBytes));
    disk->erase(key_of(1));
    ASSERT_FALSE(disk->contains(key_of(1)));
    put(*disk, 1, kEntryBytes);
    if (round % 2 == 0) disk->finish();
    ASSERT_TRUE(has(*disk, 1, kEntryBytes));
    disk->erase(key_of(1));
  }
  disk->finish();
  EXPECT_TRUE(folder.names(".evkv").empty());
}

// The first write is done, and the file removed again, long before the second one comes to its
// turn.
TEST(DiskTier, AnEntryThatWaitsForItsSecondWriteIsThereAllTheTime) {
  const ScratchFolder folder;
  const auto disk = open_disk(folder.path());
  const EntryBytes large = EntryBytes::allocate(32 << 20);
  std::ranges::fill(large.span(), std::byte{1});
  disk->put(key_of(2), large, WhenBusy::wait);
  put(*disk, 1, kEntryBytes);
  disk->erase(key_of(1));
  disk->put(key_of(3), large, WhenBusy::wait);
  put(*disk, 1, kEntryBytes);
  while (disk->stats().num_written < 4) ASSERT_TRUE(has(*disk, 1, kEntryBytes));
  EXPECT_TRUE(has(*disk, 1, kEntryBytes));
}

// Of a burst that the disk cannot follow some entries are dropped, and the queue stays small.
TEST(DiskTier, ABusyDiskDropsWhatItIsNotAskedToWaitFor) {
  const ScratchFolder folder;
  auto opened = DiskTier::open({.folder = folder.path(),
                                .bytes_max = 1 << 30,
                                .queue_bytes_max = 2 * kEntryBytes,
                                .identity = "model"},
                               {});
  ASSERT_TRUE(opened.has_value());
  DiskTier& disk = **opened;
  for (uint64_t number = 0; number < 100; ++number) put(disk, number, kEntryBytes, WhenBusy::drop);
  disk.finish();
  DiskTierStats stats = disk.stats();
  EXPECT_EQ(stats.num_written + stats.num_dropped, 100U);
  EXPECT_EQ(stats.num_entries, stats.num_written);
  EXPECT_GT(stats.num_written, 0U);
  for (uint64_t number = 100; number < 200; ++number)
    put(disk, number, kEntryBytes, WhenBusy::wait);
  disk.finish();
  EXPECT_EQ(disk.stats().num_written, stats.num_written + 100);
  EXPECT_EQ(disk.stats().num_dropped, stats.num_dropped);
}

TEST(Tiers, WhatMemoryGaveUpComesFromDiskAndBackToMemory) {
  const ScratchFolder folder;
  const auto tiers = on_both(folder, 2 * kInMemory);
  for (uint64_t number = 0; number < 6; ++number) put(*tiers, number, kEntryBytes);
  EXPECT_EQ(tiers->stats().num_in_memory, 2U);
  EXPECT_TRUE(tiers->contains(key_of(0)));
  EXPECT_TRUE(has(*tiers, 0, kEntryBytes));
  EXPECT_EQ(tiers->stats().num_disk_hits, 1U);
  EXPECT_TRUE(has(*tiers, 0, kEntryBytes));
  EXPECT_EQ(tiers->stats().num_disk_hits, 1U);
  EXPECT_EQ(tiers->stats().num_memory_hits, 1U);
}

// What is used all the time is read from memory, and must not be the first to go from disk.
TEST(Tiers, AUseInMemoryIsAUseOnDisk) {
  const ScratchFolder folder;
  auto tiers = on_both(folder, 2 * kInMemory, 3 * kOnDisk);
  put(*tiers, 1, kEntryBytes);
  tiers->finish();
  for (uint64_t number = 2; number < 6; ++number) {
    put(*tiers, number, kEntryBytes);
    EXPECT_TRUE(has(*tiers, 1, kEntryBytes));
  }
  EXPECT_EQ(tiers->stats().num_memory_hits, 4U);
  tiers.reset();
  tiers = on_both(folder, 0);
  EXPECT_TRUE(has(*tiers, 1, kEntryBytes));
  EXPECT_FALSE(tiers->contains(key_of(2)));
}

TEST(Tiers, AllThatMemoryHoldsIsOnDiskInTheEnd) {
  const ScratchFolder folder;
  {
    auto tiers = Tiers::create({.memory_bytes_max = 1 << 20,
                                .disk = {.folder = folder.path(),
                                         .bytes_max = 1 << 20,
                                         .queue_bytes_max = 1,
                                         .identity = "model"}},
                               {});
    for (uint64_t number = 0; number < 50; ++number) {
      put(*tiers, number, kEntryBytes, WhenBusy::drop);
    }
    tiers->finish();
  }
  const auto tiers = on_both(folder, 0);
  for (uint64_t number = 0; number < 50; ++number) {
    EXPECT_TRUE(has(*tiers, number, kEntryBytes)) << number;
  }
}

TEST(Tiers, ProgressRisesFromZero) {
  const ScratchFolder folder;
  {
    const auto disk = open_disk(folder.path());
    for (uint64_t number = 0; number < 600; ++number) put(*disk, number, 10);
  }
  std::vector<double> shown;
  const auto tiers =
      Tiers::create({.disk = {.folder = folder.path(), .bytes_max = 1 << 30, .identity = "model"}},
                    [&](double fraction) { shown.push_back(fraction); });
  EXPECT_EQ(tiers->stats().disk.num_entries, 600U);
  ASSERT_EQ(shown.size(), 3U);
  EXPECT_EQ(shown.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(shown));
  EXPECT_LT(shown.back(), 1);
}

}  // namespace
}  // namespace evener::cache
