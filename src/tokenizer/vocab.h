#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace evener::tokenizer {

// How SentencePiece vocabularies spell a space: U+2581.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// What a token stands for.
enum class TokenKind : uint8_t {
  normal,        // text, in the vocabulary's own spelling
  unknown,       // what cannot be spelled
  control,       // a mark such as <|im_end|>: read from text only when the caller asks for it
  user_defined,  // a text such as <think> that is always one token, marks or not
  unused,        // a filler; decodes to nothing
  byte,          // one byte, spelled <0xNN>
};

enum class NormalForm { none, nfc, nfd, nfkc, nfkd };

// What becomes of a match of a split rule's pattern: a piece of its own, or a part of the text on
// one side; contiguous joins matches that touch.
enum class SplitBehaviour { isolated, merged_with_previous, merged_with_next, contiguous };

struct SplitRule {
  std::string pattern;  // as Regex takes it
  SplitBehaviour behaviour = SplitBehaviour::isolated;
  bool is_foreign = false;  // from a model's file: may cost less than our own patterns
};

// How a special token is found in text, where that is not simply by its spelling.
struct AddedToken {
  TokenId id = -1;
  bool strip_left = false;  // takes the white space before it along
  bool strip_right = false;
  bool single_word = false;  // not inside a word
  bool normalized = false;   // is part of the text that a space prefix is put before
};

// A vocabulary as a model file states it, unchecked; Tokenizer::create checks it. What the file
// leaves out stays empty and gets the default of its kind of vocabulary.
struct Vocab {
  enum class Model {
    bpe,  // byte-level BPE: `merges` and a pre-tokenizer (GGUF tokenizer.ggml.model = gpt2)
    spm,  // SentencePiece: merges by `scores` or, if there are any, `merges`; byte fallback (=
          // llama)
  };

  Model model = Model::bpe;
  std::string pre;                  // bpe: how text is split into words; empty is "default"
  std::vector<std::string> tokens;  // spelling of each token; the index is its id
  std::vector<float> scores;        // spm: one a token, finite; empty: all 0
  std::vector<TokenKind> kinds;     // one a token; empty: all normal
  std::vector<std::string> merges;  // "LEFT RIGHT", the most urgent first

  // What tokenizer.json states itself and GGUF files do not.
  NormalForm normal_form = NormalForm::none;     // that texts are brought into first
  std::optional<std::vector<SplitRule>> splits;  // bpe: in place of `pre`, one after the other
  bool whole_words = false;       // bpe with `splits`: a word that is a token is not merged
  bool cut_at_marks = false;      // spm with merges: none reaches over a space
  std::vector<AddedToken> added;  // ids outside the vocabulary are dropped
  std::vector<int64_t> eog;       // further tokens that end a generation

  // Ids of tokens with a role. One outside the vocabulary is dropped with a warning.
  std::optional<int64_t> bos;  // spm with scores and without one: 1
  std::optional<int64_t> eos;  // spm with scores and without one: 2
  std::optional<int64_t> unk;  // spm with scores and without one: 0
  std::optional<int64_t> pad;
  std::optional<int64_t> eot;      // end of turn
  std::optional<int64_t> eom;      // end of message
  std::optional<int64_t> fim_pre;  // fill in the middle: prefix, suffix, middle, ...
  std::optional<int64_t> fim_suf;
  std::optional<int64_t> fim_mid;
  std::optional<int64_t> fim_pad;
  std::optional<int64_t> fim_rep;  // repository name
  std::optional<int64_t> fim_sep;  // file separator

  std::optional<bool> add_bos;             // default: spm yes, bpe as its pre-tokenizer has it
  std::optional<bool> add_eos;             // default: no
  std::optional<bool> add_space_prefix;    // default: spm yes; bpe has none
  bool space_prefix_once = false;          // not again behind special tokens
  bool space_prefix_unless_there = false;  // not before a space
};

}  // namespace evener::tokenizer
