#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tokenizer/merge.h"
#include "tokenizer/token_id.h"

namespace evener::tokenizer {

// A piece of the text that is being merged: bytes [begin, begin + size).
struct Symbol {
  int32_t previous = -1;  // index of the neighbour, -1 at the ends
  int32_t next = -1;
  uint32_t begin = 0;
  uint32_t size = 0;  // 0: merged into the symbol on its left
  TokenId id = -1;    // -1: no token is spelled like it
};

// A text as a chain of symbols, merged in order of rank until nothing merges: O(n log n), whatever
// the text. Reusable, so that encoding many words allocates nothing.
class SymbolChain {
 public:
  void clear() { symbols_.clear(); }

  // A chain holds at most 2^31 - 1 bytes.
  void append(uint32_t size_bytes, TokenId id) {
    const auto index = int32_t(symbols_.size());
    uint32_t begin = 0;
    if (index > 0) {
      symbols_.back().next = index;
      begin = symbols_.back().begin + symbols_.back().size;
    }
    symbols_.push_back(
        {.previous = index - 1, .next = -1, .begin = begin, .size = size_bytes, .id = id});
  }

  // find(left, right) -> std::optional<Merge> of two neighbouring symbols.
  template <class Find>
  void merge_all(const Find& find) {
    waiting_.clear();
    for (int32_t left = 0; left + 1 < int32_t(symbols_.size()); ++left) {
      if (auto entry = candidate(left, find)) waiting_.push_back(*entry);
    }
    std::make_heap(waiting_.begin(), waiting_.end(), goes_later);
    while (!waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), goes_later);
      const Candidate next = waiting_.back();
      waiting_.pop_back();
      if (is_stale(next)) continue;
      join(next);
      push(symbols_[size_t(next.left)].previous, find);
      push(next.left, find);
    }
  }

  // Calls visit(symbol) for what is left, in order of the text.
  template <class Visit>
  void for_each(const Visit& visit) const {
    if (symbols_.empty()) return;
    for (int32_t index = 0; index >= 0; index = symbols_[size_t(index)].next) {
      visit(symbols_[size_t(index)]);
    }
  }

 private:
  // `left` and its right neighbour, which together had `size` bytes when this was found. Symbols
  // only grow, so another size shows that one of the two has changed.
  struct Candidate {
    Merge merge;
    int32_t left = 0;
    uint32_t size = 0;
  };

  static bool goes_later(const Candidate& a, const Candidate& b) {
    if (a.merge.rank != b.merge.rank) return a.merge.rank > b.merge.rank;
    return a.left > b.left;
  }

  template <class Find>
  std::optional<Candidate> candidate(int32_t index, const Find& find) const {
    const Symbol& left = symbols_[size_t(index)];
    if (left.next < 0) return {};
    const Symbol& right = symbols_[size_t(left.next)];
    const std::optional<Merge> merge = find(left, right);
    if (!merge) return {};
    return Candidate{.merge = *merge, .left = index, .size = left.size + right.size};
  }

  template <class Find>
  void push(int32_t index, const Find& find) {
    if (index < 0) return;
    const auto entry = candidate(index, find);
    if (!entry) return;
    waiting_.push_back(*entry);
    std::push_heap(waiting_.begin(), waiting_.end(), goes_later);
  }

  bool is_stale(const Candidate& entry) const {
    const Symbol& left = symbols_[size_t(entry.left)];
    if (left.size == 0 || left.next < 0) return true;
    return left.size + symbols_[size_t(left.next)].size != entry.size;
  }

  void join(const Candidate& entry) {
    Symbol& left = symbols_[size_t(entry.left)];
    Symbol& right = symbols_[size_t(left.next)];
    left.size = entry.size;
    left.id = entry.merge.id;
    left.next = right.next;
    right.size = 0;
    if (left.next >= 0) symbols_[size_t(left.next)].previous = entry.left;
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> waiting_;  // a heap
};

}  // namespace evener::tokenizer
