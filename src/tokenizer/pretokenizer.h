#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocab.h"

namespace evener::tokenizer {

// How a family of byte-level BPE models splits text into words before merging. One row of the table
// in pretokenizers.cpp.
struct Pretokenizer {
  // Values of GGUF's tokenizer.ggml.pre that mean this rule.
  std::span<const std::string_view> names;
  // Applied one after the other, each to the pieces that the one before left: every match becomes a
  // piece, and so does the text between two matches.
  std::span<const std::string_view> patterns;
  // A word that is itself a token is taken whole, without merging.
  bool whole_words = false;
  bool add_bos = false;  // if the file does not say
};

// The row for a name (empty: "default"), or null.
const Pretokenizer* find_pretokenizer(std::string_view name);

// All rows.
std::span<const Pretokenizer> pretokenizers();

// Its patterns, as a Splitter takes them.
std::vector<SplitRule> split_rules(const Pretokenizer& rule);

// All names, sorted: "bailingmoe, bloom, ...".
std::string pretokenizer_names();

}  // namespace evener::tokenizer
