#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tokenizer/merge.h"
#include "tokenizer/token_id.h"
#include "tokenizer/token_table.h"

namespace evener::tokenizer {

struct TokenPair {
  TokenId left = -1;
  TokenId right = -1;
  bool operator==(const TokenPair&) const = default;
};

// Finds the merge of two tokens.
class MergeTable {
 public:
  // The merges of a vocabulary, "LEFT RIGHT" each, the first going first. Those that name a token
  // the vocabulary lacks are ignored. Error: limit_exceeded.
  static Result<MergeTable> of(const std::vector<std::string>& merges, const TokenTable& table);

  // Room for `num_merges`; inserting more aborts.
  explicit MergeTable(size_t num_merges);

  // A pair that has a merge keeps the one it has.
  void insert(TokenPair pair, Merge merge);

  std::optional<Merge> find(TokenPair pair) const;

  // Asks for the memory that an insert() of the pair will need.
  void prepare(TokenPair pair) const { __builtin_prefetch(&slots_[first_slot(pair)], 1); }

 private:
  struct Slot {
    TokenPair pair;
    Merge merge;  // id -1: free
  };
  size_t first_slot(TokenPair pair) const;  // where the search begins
  size_t slot_of(TokenPair pair) const;     // holds the pair, or free

  std::vector<Slot> slots_;  // a power of two, at most half full; collisions go to the next slot
  size_t mask_ = 0;
  size_t num_free_ = 0;
};

}  // namespace evener::tokenizer
