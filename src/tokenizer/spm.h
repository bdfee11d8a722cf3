#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/merge.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/symbol_chain.h"
#include "tokenizer/token_id.h"
#include "tokenizer/token_table.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// SentencePiece's BPE: spaces are U+2581, a text starts as one token a character, and the
// neighbours merge that spell the token with the highest score (as in GGUF files) or that stand
// first in a list of merges (as in tokenizer.json), until none do. Characters without a token
// become the tokens <0xNN> of their bytes. Immutable; safe from any thread.
class Spm {
 public:
  // Scores were checked to be numbers. `table` must outlive this. Error: limit_exceeded.
  static Result<Spm> create(const Vocab& vocab, const TokenTable& table);

  // Appends the ids of `text`, which holds no special tokens; `space_prefix` puts a space before
  // it. A byte that has no token becomes `unknown`, or nothing if that is negative.
  void encode(std::string_view text, bool space_prefix, TokenId unknown,
              std::vector<TokenId>& ids) const;

 private:
  Spm(const Vocab& vocab, const TokenTable& table, MergeTable merges);
  std::optional<Merge> find_merge(std::string_view text, const Symbol& left,
                                  const Symbol& right) const;
  size_t independent_part(std::string_view text) const;
  void encode_part(std::string_view text, SymbolChain& chain, TokenId unknown,
                   std::vector<TokenId>& ids) const;
  void append_bytes(std::string_view bytes, TokenId unknown, std::vector<TokenId>& ids) const;

  const TokenTable* table_;
  bool by_merges_;
  MergeTable merges_;
  std::vector<int32_t> ranks_;              // not by_merges_: one a token, 0 has the highest score
  std::array<TokenId, 256> byte_tokens_{};  // -1: the vocabulary has none
  // Bytes that stand before a space mark inside some token. Before any other mark a text can be
  // cut: no merge reaches across, so words may be merged one by one.
  std::array<bool, 256> before_inner_mark_{};
};

}  // namespace evener::tokenizer
