#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"
#include "tokenizer/token_table.h"
#include "tokenizer/tokenizer.h"

namespace evener::tokenizer {

// A part of a text: one special token, or bytes that hold none.
struct Fragment {
  std::string_view text;
  TokenId id = -1;  // -1: not a special token
};

// Finds special tokens in text. A longer token goes first wherever it stands, of equally long ones
// the lower id, and of one token's places the leftmost: text that one took is not there for the
// next. Immutable; safe from any thread.
class SpecialMatcher {
 public:
  // The special tokens are those whose kind (`vocab` has one a token) is user_defined, control or
  // unknown.
  SpecialMatcher(const Vocab& vocab, const TokenTable& table);

  // `text` in order, without empty fragments. With plain, only user-defined tokens are special.
  // White space that a token takes along is part of its fragment.
  std::vector<Fragment> partition(std::string_view text, SpecialTokens special) const;

  bool is_normalized(TokenId id) const;

 private:
  struct Place {
    size_t begin = 0;
    size_t size = 0;
    TokenId id = -1;
  };
  const AddedToken* flags_of(TokenId id) const;  // null: none is set
  void widen(std::string_view text, std::vector<Place>& places) const;
  bool may_begin(std::string_view text) const;
  static bool goes_later(const Place& a, const Place& b);
  std::optional<Place> longest_at(std::string_view text, size_t begin, size_t size_max,
                                  SpecialTokens special) const;
  std::vector<Place> choose(std::string_view text, SpecialTokens special) const;

  const TokenTable* table_;
  std::vector<TokenKind> special_kinds_;  // one a token; normal: not special
  std::vector<AddedToken> flags_;         // ascending by id; only those with a flag
  // Lengths of the special tokens that begin with a byte, falling.
  std::array<std::vector<size_t>, 256> lengths_by_first_byte_;
  // Whether some special token begins with two bytes, the first times 256. Spares the look-ups
  // where tokens of 2 to 31 spaces meet a lone one.
  std::vector<bool> first_pairs_ = std::vector<bool>(size_t{1} << 16);
};

}  // namespace evener::tokenizer
