#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/temporary_folder.h"
#include "gguf/file.h"
#include "tokenizer/gguf_words.h"
#include "tokenizer/vocab.h"
#include "tokenizer/vocabularies.h"

namespace evener::hf::test {

using nlohmann::json;

inline json byte_level_part() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
}

// Splits at a pattern, then writes bytes as characters.
inline json split_by(std::string_view pattern) {
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", pattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", json::array({split, byte_level_part()})}};
}

// As the models of qwen35 have it.
inline constexpr std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The tokenizer.json that tests/data/tokenizer/tiny35.gguf would have been made from.
inline json tiny35_json() {
  const auto file = gguf::File::open(tokenizer::test::data_file("tiny35.gguf"));
  EXPECT_TRUE(file.has_value());
  const auto tokens = file->get_strings(tokenizer::gguf_key("tokens"));
  const auto types = file->get_ints(tokenizer::gguf_key("token_type"));
  json vocab;
  json added = json::array();
  for (size_t id = 0; id < tokens->size(); ++id) {
    const auto kind = tokenizer::kind_of_gguf_type((*types)[id]);
    if (kind == tokenizer::TokenKind::normal) vocab[std::string((*tokens)[id])] = id;
    if (kind == tokenizer::TokenKind::control) {
      added.push_back({{"id", id}, {"content", (*tokens)[id]}, {"special", true}});
    }
  }
  json merges = json::array();
  const auto merge_lines = file->get_strings(tokenizer::gguf_key("merges"));
  for (const auto merge : *merge_lines) merges.push_back(merge);
  return {{"added_tokens", added},
          {"normalizer", {{"type", "NFC"}}},
          {"pre_tokenizer", split_by(kQwen35Pattern)},
          {"decoder", byte_level_part()},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merges}}}};
}

// All 256 bytes, whose ids are their values, then <end> (256) and <stop> (257).
inline json bytes_json() {
  json vocab;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char text = char(byte);
    vocab[tokenizer::test::spelled({&text, 1})] = byte;
  }
  const json end = {{"id", 256}, {"content", "<end>"}, {"special", true}};
  const json stop = {{"id", 257}, {"content", "<stop>"}, {"special", true}};
  return {{"added_tokens", json::array({end, stop})},
          {"pre_tokenizer", split_by(kQwen35Pattern)},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", json::array()}}}};
}

// <unk> <s> </s>, byte b as 3 + b, then the mark (259), a, b, "mark a" (262), "ab" and "mark ab".
inline json space_marks_json() {
  const std::string mark(tokenizer::kSpaceMark);
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (unsigned byte = 0; byte < 256; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  for (const std::string& text :
       {mark, std::string("a"), std::string("b"), mark + "a", std::string("ab"), mark + "ab"}) {
    const size_t id = vocab.size();
    vocab[text] = id;
  }
  const json prepend = {{"type", "Prepend"}, {"prepend", mark}};
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", mark}};
  return {{"added_tokens", json::array({{{"id", 1}, {"content", "<s>"}, {"special", true}},
                                        {{"id", 2}, {"content", "</s>"}, {"special", true}}})},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", json::array({prepend, replace})}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", json::array({"a b", mark + " a", mark + " ab", mark + "a b"})}}}};
}

// The files of a folder that have to do with its tokenizer.
class TokenizerFolder {
 public:
  explicit TokenizerFolder(const json& tokenizer) { write("tokenizer.json", tokenizer.dump()); }

  void write(const std::string& file, std::string_view text) const {
    std::ofstream(path() / file, std::ios::binary) << text;
  }

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace evener::hf::test
