#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/splitter.h"
#include "tokenizer/symbol_chain.h"
#include "tokenizer/token_id.h"
#include "tokenizer/token_table.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// Byte-level byte pair encoding: text is split into words by the pre-tokenizer's rule, a word
// starts as one token a byte, and the pair whose merge stands first in the list merges until none
// is left. Immutable; safe from any thread.
class Bpe {
 public:
  // `table` must outlive this. Errors: unsupported (no such pre-tokenizer; a pattern that is not
  // understood), limit_exceeded.
  static Result<Bpe> create(const Vocab& vocab, const TokenTable& table);

  // Appends the ids of `text`, which holds no special tokens. A byte that has no token becomes
  // `unknown`, or nothing if that is negative.
  void encode(std::string_view text, TokenId unknown, std::vector<TokenId>& ids) const;

  bool add_bos_by_default() const { return traits_.add_bos; }

 private:
  // What a pre-tokenizer's rule says besides its patterns.
  struct Traits {
    bool whole_words = false;
    bool add_bos = false;
  };
  Bpe(Traits traits, Splitter splitter, const TokenTable& table, MergeTable merges);
  std::optional<TokenId> whole_word(std::string_view word) const;
  void encode_word(std::string_view word, SymbolChain& chain) const;

  Traits traits_;
  Splitter splitter_;
  const TokenTable* table_;
  MergeTable merges_;
  std::array<TokenId, 256> byte_tokens_{};  // -1: the vocabulary has none
};

}  // namespace evener::tokenizer
