#include "simulate/fake_model.h"

namespace evener::simulate {
namespace {

constexpr uint64_t kVocabSize = 97;  // answers end after about as many tokens

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) {  // the finaliser of splitmix64
  uint64_t x = a ^ (b + 0x9E37'79B9'7F4A'7C15ULL + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
  return x ^ (x >> 31);
}

TokenId token_after(uint64_t entry_sum, uint64_t state) {
  return static_cast<TokenId>(mix(entry_sum, state) % kVocabSize);
}

History::History(uint64_t salt, bool is_recurrent)
    : is_recurrent_(is_recurrent), entries_{first_entry(salt)}, sums_{0}, states_{kClearState} {}

void History::append(TokenId token) {
  entries_.push_back(next_entry(entries_.back(), token));
  sums_.push_back(sums_.back() + summand(entries_.back(), tokens_.size()));
  states_.push_back(next_state(states_.back(), token));
  tokens_.push_back(token);
}

void History::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) append(token);
}

TokenId History::next_token() const {
  return token_after(sums_.back(), is_recurrent_ ? states_.back() : 0);
}

}  // namespace evener::simulate
