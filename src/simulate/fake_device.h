#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "cache/entry_key.h"
#include "cache/stored_entries.h"
#include "cache/transfer.h"
#include "simulate/fake_model.h"

namespace evener::simulate {

// The memory of one page: an entry a position. Written in order; the sum is that of the summands.
struct FakePage {
  std::vector<uint64_t> entries;
};

// What a tier keeps under a key.
struct StoredBytes {
  FakePage page;
  uint64_t state = 0;
};

// A tier in memory that forgets the oldest entries, and finds a few of them damaged when asked.
class FakeStore : public cache::StoredEntries {
 public:
  struct Options {
    size_t num_entries_max = 0;  // 0: there is no tier
    double damage = 0;           // part of the loads that find nothing
    unsigned seed = 0;
  };
  explicit FakeStore(const Options& options) : options_(options), random_(options.seed) {}

  bool contains(const cache::EntryKey& key) const override { return entries_.contains(key); }
  bool wants(const cache::EntryKey& key) const override {
    return options_.num_entries_max > 0 && !contains(key);
  }

  void put(const cache::EntryKey& key, StoredBytes bytes);
  std::optional<StoredBytes> get(const cache::EntryKey& key);

 private:
  Options options_;
  std::mt19937 random_;
  std::unordered_map<cache::EntryKey, StoredBytes> entries_;
  std::vector<cache::EntryKey> order_;  // oldest first
};

// Faults that a run may be given to see that they are found.
enum class Sabotage {
  none,
  // Of the device:
  skip_state_copies,
  skip_state_clears,
  skip_page_loads,
  skip_state_loads,
  // Of what the scheduler is told, against what is expected of it:
  hide_salts,
  run_on_after_cancels,
  ignore_debts,
  ignore_target,
  ignore_deadline,
  ignore_step_limit,
  one_place_more,
  // Of the pipe:
  overtake_passes,  // transfers are made at once, not behind the passes that have begun
};

// Executes transfers and rows literally on memory of its own: whatever page or slot it is told.
class FakeDevice {
 public:
  struct Options {
    size_t page_size = 64;
    size_t num_pages = 0;
    size_t num_state_slots = 0;
    Sabotage sabotage = Sabotage::none;
  };
  explicit FakeDevice(const Options& options);

  // False: a load found nothing.
  bool execute(const cache::Transfer& transfer, FakeStore& store);
  // Any but saves; `bytes` of what a load is to write.
  void write(const cache::Transfer& transfer, const StoredBytes& bytes);

  // Whatever was in pages and slots is something else now.
  void lose_all();

  // Tokens at first_position and following, one sequence. Returns the token after the last row.
  struct Rows {
    uint64_t salt = 0;
    size_t first_position = 0;
    std::span<const TokenId> tokens;
    std::span<const int32_t> pages;
    int32_t state_slot = -1;
  };
  TokenId run(const Rows& rows);

  // The sum that attention to positions [0, num_positions) would read. Nothing: a page is short.
  std::optional<uint64_t> entry_sum(std::span<const int32_t> pages, size_t num_positions) const;
  uint64_t state(int32_t slot) const { return states_.at(static_cast<size_t>(slot)); }

 private:
  FakePage& page(int32_t number) { return pages_.at(static_cast<size_t>(number)); }
  const FakePage& page(int32_t number) const { return pages_.at(static_cast<size_t>(number)); }
  uint64_t& slot(int32_t number) { return states_.at(static_cast<size_t>(number)); }

  Options options_;
  std::vector<FakePage> pages_;
  std::vector<uint64_t> states_;
};

}  // namespace evener::simulate
