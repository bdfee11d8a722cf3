#include <gmock/gmock.h>

#include <random>

#include "vocabularies.h"

namespace evener::tokenizer::test {
namespace {

using testing::ElementsAre;

TEST(Bpe, MergesByRankAndOfEqualRanksFromTheLeft) {
  const auto tokenizer = make(bpe_vocab({{"b", "c"}, {"a", "b"}, {"a", "a"}}));
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre('a', 256));  // bc goes before ab
  EXPECT_THAT(tokenizer->encode("aaa"), ElementsAre(258, 'a'));  // the left pair
  EXPECT_THAT(tokenizer->encode("aabc"), ElementsAre(258, 256));
}

TEST(Bpe, TakesWholeWordsWithoutMergingOnlyWhereThePretokenizerSaysSo) {
  for (const bool whole : {true, false}) {
    Vocab vocab = bpe_vocab({}, whole ? "llama-bpe" : "qwen2");
    const TokenId word = add_token(vocab, "abc", TokenKind::normal);
    const auto tokenizer = make(std::move(vocab));
    const Ids merged = {'a', 'b', 'c'};
    EXPECT_EQ(tokenizer->encode("abc"), whole ? Ids{word} : merged);
  }
}

TEST(Bpe, IgnoresMergesThatNameAbsentTokens) {
  Vocab vocab = bpe_vocab({{"a", "b"}});
  vocab.merges = {"a zz", "zz a", "a c", "nospace", "", " ", "a b", "a b"};
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("acab"), ElementsAre('a', 'c', 256));
}

TEST(Bpe, GivesAByteWithoutTokenTheUnknownOneOrDropsIt) {
  Vocab vocab = bpe_vocab({});
  vocab.tokens['x'] = "[gone]";
  EXPECT_THAT(make(vocab)->encode("axb"), ElementsAre('a', 'b'));
  vocab.unk = 0;
  EXPECT_THAT(make(vocab)->encode("axb"), ElementsAre('a', 0, 'b'));
}

TEST(Bpe, RoundTripsRandomBytes) {
  const auto tokenizer = load("tiny35");
  std::mt19937 random(20261129);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    // Half the bytes from a few leads, so that sequences are often nearly valid.
    for (auto left = random() % 40; left > 0; --left) {
      text += char(random() % 2 ? random() : "\xE4\xBD\xA0\xF0\x9F\x98\xC3\xED ,"[random() % 10]);
    }
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, {.special = SpecialTokens::parse})), text);
  }
}

// A million bytes without a border are one word: merged pair by pair in quadratic time they would
// take hours, which the test's time limit catches.
TEST(Bpe, EncodesAMillionBytesOfOneWord) {
  const auto tokenizer = load("tiny35");
  for (const char* piece : {"a", "ab", "\xE4\xBD\xA0", " ", "\n", "A", "\xCC\x81", "!", "\xFF"}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << piece;
  }
}

TEST(Bpe, NoPretokenizerBacktracksOverALongRun) {
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen35", "gpt-4o", "tekken", "deepseek-llm",
                          "deepseek-v3", "default", "bloom"}) {
    const auto tokenizer = make(bpe_vocab({}, pre));
    for (const char* piece :
         {"A", "a", " ", "\n ", "\xE4\xBD\xA0", "\xCC\x81", "'", "9", "\xC7\x85"}) {
      std::string text;
      while (text.size() < 300'000) text += piece;
      text += "x";
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << pre << " " << piece;
    }
  }
}

TEST(Bpe, SplitsUpperFromLowerCaseAsGpt4oDoes) {
  // llama.cpp only approximates this rule, so the expected splits are the rule's own: a word is
  // upper-case letters, then lower-case ones, whatever the alphabet.
  Vocab vocab = bpe_vocab({}, "gpt-4o");
  const TokenId upper = add_token(vocab, spelled("ЁЛ"), TokenKind::normal);
  const TokenId across = add_token(vocab, spelled("лЁ"), TokenKind::normal);
  const auto e = spelled("Ё"), l = spelled("Л"), small = spelled("л");
  for (const std::string& letter : {e, l, small}) {
    add_token(vocab, letter, TokenKind::normal);
    const size_t half = letter.size() / 2;
    vocab.merges.push_back(letter.substr(0, half) + " " + letter.substr(half));
  }
  vocab.merges.push_back(e + " " + l);
  vocab.merges.push_back(small + " " + e);
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("ЁЛ"), ElementsAre(upper));
  EXPECT_THAT(tokenizer->encode("лЁ"), testing::Not(testing::Contains(across)));
}

}  // namespace
}  // namespace evener::tokenizer::test
