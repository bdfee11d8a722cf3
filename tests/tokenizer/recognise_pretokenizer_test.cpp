// Goal: the rules of tokenizer.json files get the names that GGUF files have for them, and others
// get none. Method: patterns as the models' files state them, and every rule of our own table.
#include "tokenizer/recognise_pretokenizer.h"

#include <gtest/gtest.h>

#include "tokenizer/foreign_pattern.h"
#include "tokenizer/pretokenizer.h"

namespace evener::tokenizer {
namespace {

std::string name_of(std::vector<SplitRule> rules, bool whole_words) {
  Vocab vocab;
  vocab.splits = std::move(rules);
  vocab.whole_words = whole_words;
  const auto name = recognise_pretokenizer(vocab);
  EXPECT_TRUE(name.has_value()) << to_string(name.error());
  return std::string(*name);
}

std::string name_of(std::string_view pattern, bool whole_words = false) {
  auto translated = translate_pattern(pattern);
  EXPECT_TRUE(translated.has_value()) << to_string(translated.error());
  return name_of({{.pattern = *std::move(translated), .is_foreign = true}}, whole_words);
}

constexpr std::string_view kQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kGptOss =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+)"
    R"([\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

TEST(RecognisePretokenizer, KnowsThePatternsOfModels) {
  EXPECT_EQ(name_of(kQwen2), "qwen2");
  EXPECT_EQ(name_of(kQwen35), "qwen35");
  EXPECT_EQ(name_of(kLlama3, true), "llama-bpe");
  EXPECT_EQ(name_of(kLlama3, false), "dbrx");
  EXPECT_EQ(name_of(kGptOss), "gpt-4o");
  EXPECT_EQ(name_of(kGptOss, true), "gpt-4o");
}

TEST(RecognisePretokenizer, SeesSmallDifferences) {
  std::string pattern(kQwen2);
  pattern.replace(pattern.find(R"(\p{N}| )"), 5, R"(\p{N}{1,2})");
  EXPECT_EQ(name_of(pattern), "");
  pattern = kQwen2;
  pattern.replace(pattern.find("'ll"), 3, "'zz");
  EXPECT_EQ(name_of(pattern), "");
  EXPECT_EQ(name_of(R"(\s+|\S+)"), "");
  EXPECT_EQ(name_of(std::vector<SplitRule>(), false), "");
}

TEST(RecognisePretokenizer, FindsEveryRuleOfTheTable) {
  for (const Pretokenizer& rule : pretokenizers()) {
    // What bailingmoe says of line ends, qwen2 says in other words.
    const std::string_view expected =
        rule.names.front() == "bailingmoe" ? "qwen2" : rule.names.front();
    EXPECT_EQ(name_of(split_rules(rule), rule.whole_words), expected);
  }
}

}  // namespace
}  // namespace evener::tokenizer
