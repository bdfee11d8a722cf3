#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/ids.h"

namespace evener::simulate {

using cache::TokenId;

// A model that cannot be right by accident: each token follows from a hash of all tokens before it
// and of the salt, in two ways at once.
//
// What attention would read: every position has an entry,
//     entry[p] = mix(entry[p-1], token[p]),   entry[-1] = mix(salt),
// and a row at p reads the sum of mix(entry[i], i) over i <= p, so that one wrong entry anywhere
// shows. What a recurrent layer would carry on: a running hash of the tokens.
uint64_t mix(uint64_t a, uint64_t b);

inline uint64_t first_entry(uint64_t salt) { return mix(salt, 0x5EED); }
inline uint64_t next_entry(uint64_t before, TokenId token) {
  return mix(before, static_cast<uint64_t>(token) + 1);
}
inline uint64_t summand(uint64_t entry, size_t position) { return mix(entry, position); }

inline constexpr uint64_t kClearState = 0xC1EA'25A7E;
inline uint64_t next_state(uint64_t before, TokenId token) {
  return mix(before, ~static_cast<uint64_t>(token));
}

// The token that the model gives after a row. `state`: 0 in models without recurrent layers.
TokenId token_after(uint64_t entry_sum, uint64_t state);

// An answer ends with this one.
inline constexpr TokenId kEndToken = 0;

// What the model knows after each number of tokens, straight from the definition.
class History {
 public:
  History(uint64_t salt, bool is_recurrent);

  void append(TokenId token);
  void append(std::span<const TokenId> tokens);

  size_t size() const { return tokens_.size(); }
  std::span<const TokenId> tokens() const { return tokens_; }
  uint64_t entry(size_t position) const { return entries_[position + 1]; }
  uint64_t entry_sum(size_t num_tokens) const { return sums_[num_tokens]; }
  uint64_t state(size_t num_tokens) const { return states_[num_tokens]; }
  TokenId next_token() const;

 private:
  bool is_recurrent_;
  std::vector<TokenId> tokens_;
  std::vector<uint64_t> entries_;  // the first is that before the first token
  std::vector<uint64_t> sums_;     // after so many tokens
  std::vector<uint64_t> states_;   // after so many tokens
};

}  // namespace evener::simulate
