#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace evener::tokenizer {

// Finds tokens by their spelling. Of equal spellings the lowest id is found; empty ones never are.
class TokenTable {
 public:
  // `spellings` must outlive the table and stay where it is.
  explicit TokenTable(std::span<const std::string> spellings);

  std::optional<TokenId> find(std::string_view spelling) const;

  // Looks up kGroup spellings or less; ids[i] gets spellings[i]'s token, -1 if there is none. A
  // large table lies outside the caches: here its lines are waited for together, by find() one
  // after the other.
  static constexpr size_t kGroup = 64;
  void find_group(std::span<const std::string_view> spellings, std::span<TokenId> ids) const;

  // Length of the longest spelling: nothing longer needs to be looked up.
  size_t longest_bytes() const { return longest_bytes_; }

 private:
  struct Slot {
    uint32_t tag = 0;  // upper half of the hash
    TokenId id = -1;   // -1: free
  };
  void insert(TokenId id, uint64_t hash);
  TokenId find(std::string_view spelling, uint64_t hash) const;  // -1: none

  std::span<const std::string> spellings_;
  std::vector<Slot> slots_;  // a power of two, at most half full; collisions go to the next slot
  size_t mask_ = 0;
  size_t longest_bytes_ = 0;
};

}  // namespace evener::tokenizer
