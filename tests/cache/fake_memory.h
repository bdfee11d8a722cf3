#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <vector>

#include "cache/residency.h"

namespace evener::cache {

// What a device would hold, were keys, values and recurrent state nothing but a hash of everything
// that led to them: the value at a position, and the state after it, is a hash of the salt and all
// tokens up to there. Transfers are carried out literally, so whoever reads a page or a slot that
// holds something else than its own past sees it at once. It is the tiers, too.
class FakeMemory : public StoredEntries {
 public:
  using Hash = uint64_t;

  struct Sizes {
    size_t page_size = 0;
    size_t num_pages = 0;
    size_t num_slots = 0;
  };

  // Rows [first, last) of a sequence.
  struct Rows {
    uint64_t salt = 0;
    std::span<const TokenId> tokens;  // all that are known
    size_t first = 0;
    size_t last = 0;
    std::span<const int32_t> pages;
    int32_t slot = -1;
  };

  explicit FakeMemory(const Sizes& sizes)
      : page_size_(sizes.page_size),
        pages_(sizes.num_pages, std::vector<Hash>(sizes.page_size, kNothing)),
        slots_(sizes.num_slots, kNothing) {}

  bool contains(const EntryKey& key) const override { return stored_.contains(key); }
  bool wants(const EntryKey& key) const override { return tiers_on && !contains(key); }

  // False: there are no bytes to load.
  [[nodiscard]] bool carry_out(const Transfer& transfer) {
    using Kind = Transfer::Kind;
    const auto from = static_cast<size_t>(transfer.from);
    const auto to = static_cast<size_t>(transfer.to);
    if (transfer.is_load() && !contains(transfer.key)) return false;
    if (transfer.kind == Kind::clear_state) slots_.at(to) = kCleared;
    if (transfer.kind == Kind::copy_state) slots_.at(to) = slots_.at(from);
    if (transfer.kind == Kind::load_page) pages_.at(to) = stored_.at(transfer.key);
    if (transfer.kind == Kind::load_state) slots_.at(to) = stored_.at(transfer.key).front();
    if (transfer.kind == Kind::save_page) stored_[transfer.key] = pages_.at(from);
    if (transfer.kind == Kind::save_state) stored_[transfer.key] = {slots_.at(from)};
    return true;
  }

  // What the rows would read is what these tokens lead to; then the rows write.
  void run(const Rows& rows) {
    expect_past(rows);
    Hash hash = past(rows, rows.first);
    for (size_t position = rows.first; position < rows.last; ++position) {
      hash = mix(hash, static_cast<Hash>(rows.tokens[position]));
      place(rows, position) = hash;
    }
    if (rows.slot >= 0) slots_.at(static_cast<size_t>(rows.slot)) = hash;
  }

  // A step that broke: what it was to write is rubbish.
  void spoil(const Rows& rows) {
    for (size_t position = rows.first; position < rows.last; ++position) {
      place(rows, position) = kNothing;
    }
    if (rows.slot >= 0) slots_.at(static_cast<size_t>(rows.slot)) = kNothing;
  }

  void put(const EntryKey& key, const std::vector<Hash>& bytes) { stored_[key] = bytes; }
  void lose(const EntryKey& key) { stored_.erase(key); }
  void lose_all() { stored_.clear(); }
  const std::map<EntryKey, std::vector<Hash>>& stored() const { return stored_; }

  bool tiers_on = false;

 private:
  static constexpr Hash kNothing = 0;
  static constexpr Hash kCleared = 1;

  static Hash mix(Hash hash, Hash more) {
    hash = (hash ^ (more + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
    return hash ^ (hash >> 29);
  }

  Hash past(const Rows& rows, size_t num_tokens) const {
    Hash hash = mix(kCleared, rows.salt);
    for (size_t i = 0; i < num_tokens; ++i) hash = mix(hash, static_cast<Hash>(rows.tokens[i]));
    return hash;
  }

  Hash& place(const Rows& rows, size_t position) {
    const auto page = static_cast<size_t>(rows.pages[position / page_size_]);
    return pages_.at(page).at(position % page_size_);
  }

  void expect_past(const Rows& rows) {
    Hash hash = past(rows, 0);
    for (size_t position = 0; position < rows.first; ++position) {
      hash = mix(hash, static_cast<Hash>(rows.tokens[position]));
      ASSERT_EQ(place(rows, position), hash) << "page of position " << position;
    }
    if (rows.slot < 0) return;
    const Hash state = slots_.at(static_cast<size_t>(rows.slot));
    ASSERT_EQ(state, rows.first == 0 ? kCleared : hash) << "state at " << rows.first;
  }

  size_t page_size_;
  std::vector<std::vector<Hash>> pages_;
  std::vector<Hash> slots_;
  std::map<EntryKey, std::vector<Hash>> stored_;
};

}  // namespace evener::cache
