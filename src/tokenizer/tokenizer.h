#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/token_id.h"
#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// Whether the spellings of control tokens in a text are those tokens (a rendered chat template) or
// mere text (what a user typed). User-defined tokens are always read.
enum class SpecialTokens { plain, parse };

struct EncodeOptions {
  SpecialTokens special = SpecialTokens::plain;
  bool add_special = false;  // put bos before and eos behind, where the vocabulary asks for that
};

struct DecodeOptions {
  bool skip_special = false;  // leave control and unknown tokens out
};

// Text to token ids and back.
//
// Texts are byte strings: invalid UTF-8 and NUL bytes are encoded too. With a byte-level BPE
// vocabulary that spells all 256 bytes, decode(encode(x)) == x for every x; with a SentencePiece
// one that has all byte tokens it holds for every x without special tokens in it. A vocabulary from
// tokenizer.json may ask for a normal form of Unicode, which texts are brought into first, and for
// special tokens that take white space along. A byte that neither has is encoded as the unknown
// token, or dropped if there is none.
//
// Immutable: every member may be called from any thread at once. Time is O(n log n) in the text,
// whatever it holds. Ids outside the vocabulary are allowed everywhere and stand for no token.
//
// Equal to llama.cpp but for: invalid UTF-8 (kept here, replaced there), merges that name absent
// tokens (ignored here), split rules that llama.cpp only approximates (see pretokenizers.cpp), and
// decode, which here changes no spaces. Judge: tests/tokenizer/corpus_test.cpp, tests/peer.
class Tokenizer {
 public:
  // Errors: corrupt (no tokens, lists of differing lengths, a score that is no number), unsupported
  // (an unknown pre-tokenizer; `remedy` lists the known ones), limit_exceeded (more tokens, merges
  // or bytes than any real vocabulary).
  static Result<std::unique_ptr<Tokenizer>> create(Vocab vocab);

  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<TokenId> encode(std::string_view text, EncodeOptions options = {}) const;

  // The exact bytes. Of a vocabulary that prefixes texts with a space, one leading space of the
  // first token (behind bos, if that comes first) is that prefix and left out.
  std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const;

  // Bytes of one token, leading space included; empty for unused ones and ids outside. Valid as
  // long as the tokenizer.
  std::string_view piece(TokenId id) const;

  // The token of that spelling: "<|im_end|>", or for a normal token the vocabulary's own form
  // ("\u0120the" in BPE, "\u2581the" in SentencePiece), never its bytes.
  std::optional<TokenId> find(std::string_view spelling) const;
  std::string_view spelling(TokenId id) const;  // empty for ids outside

  // Ends a generation: eos, end of turn, end of message and tokens spelled like those.
  bool is_eog(TokenId id) const;
  std::span<const TokenId> eog_tokens() const;  // ascending

  TokenKind kind(TokenId id) const;  // unused for ids outside
  bool is_control(TokenId id) const { return kind(id) == TokenKind::control; }
  bool is_special(TokenId id) const;  // control or unknown: what skip_special leaves out

  size_t size() const;  // ids are 0 .. size() - 1
  std::optional<TokenId> bos() const;
  std::optional<TokenId> eos() const;
  std::optional<TokenId> eot() const;
  std::optional<TokenId> pad() const;
  std::optional<TokenId> unk() const;
  bool adds_bos() const;  // encode with add_special puts bos() in front
  bool adds_eos() const;
  bool adds_space_prefix() const;

 private:
  class Impl;
  explicit Tokenizer(std::unique_ptr<const Impl> impl);

  std::unique_ptr<const Impl> impl_;
};

}  // namespace evener::tokenizer
