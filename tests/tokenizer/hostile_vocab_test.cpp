// Goal: a vocabulary from a damaged or hostile file gives a clear error or does what is written
// down, and never crashes.
#include <gmock/gmock.h>

#include <limits>

#include "gguf/header.h"
#include "vocabularies.h"

namespace evener::tokenizer::test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

constexpr const char* kRemedy =
    "\n  the model file is damaged or was converted wrongly: get it again";

std::string error_of(Vocab vocab) {
  const auto made = Tokenizer::create(std::move(vocab));
  return made ? "no error" : to_string(made.error());
}

TEST(HostileVocab, WithoutTokensIsAnError) {
  EXPECT_EQ(error_of({}), std::string("cannot make a tokenizer: tokens: there are none") + kRemedy);
}

TEST(HostileVocab, ListsOfDifferentLengthsAreAnError) {
  Vocab vocab = spm_vocab({"a"});
  vocab.scores.pop_back();
  EXPECT_EQ(error_of(vocab),
            std::string("cannot make a tokenizer: scores: 259 of them for 260 tokens") + kRemedy);
  vocab = spm_vocab({"a"});
  vocab.kinds.push_back(TokenKind::normal);
  EXPECT_EQ(
      error_of(vocab),
      std::string("cannot make a tokenizer: token types: 261 of them for 260 tokens") + kRemedy);
}

TEST(HostileVocab, AScoreThatIsNoNumberIsAnError) {
  for (const float score :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Vocab vocab = spm_vocab({"a"});
    vocab.scores[7] = score;
    EXPECT_EQ(
        error_of(vocab),
        std::string("cannot make a tokenizer: score of token 7: is not a finite number") + kRemedy);
  }
}

TEST(HostileVocab, AnUnknownPretokenizerIsNamedWithThoseThatAreKnown) {
  const std::string message = error_of(bpe_vocab({}, "no\nsuch"));
  EXPECT_THAT(message, StartsWith("cannot make a tokenizer: pre-tokenizer: 'no\\nsuch' is not known"
                                  "\n  known are a.x-4.0, bailingmoe, "));
  EXPECT_NE(message.find(", qwen35, "), std::string::npos);
}

TEST(HostileVocab, OfEqualSpellingsTheLowestIdIsMeant) {
  Vocab vocab = bpe_vocab({});
  add_token(vocab, "a", TokenKind::normal);
  const TokenId again = add_token(vocab, "a", TokenKind::control);
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("aa", {.special = SpecialTokens::parse}), ElementsAre('a', 'a'));
  EXPECT_EQ(tokenizer->piece(again), "a");
}

TEST(HostileVocab, EmptySpellingsAreNeverFound) {
  Vocab vocab = bpe_vocab({});
  for (const TokenKind kind : {TokenKind::normal, TokenKind::control, TokenKind::user_defined}) {
    add_token(vocab, "", kind);
  }
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre('a'));
  EXPECT_EQ(tokenizer->find(""), std::nullopt);
  EXPECT_EQ(tokenizer->piece(257), "");
}

TEST(HostileVocab, OneByteIsEnoughAndOneTokenMayBeTenMegabytes) {
  Vocab vocab;
  vocab.tokens = {"a", std::string(10'000'000, 'a')};
  vocab.merges = {"a a"};
  const auto tokenizer = make(std::move(vocab));
  EXPECT_EQ(tokenizer->encode("aab"), (Ids{0, 0}));
  EXPECT_EQ(tokenizer->piece(1).size(), 10'000'000U);
}

TEST(HostileVocab, ByteTokensWithOtherNamesAreText) {
  Vocab vocab = spm_vocab({});
  for (const char* name : {"<0xZZ>", "<0x4>", "", "<0x041>", "<0x+1>"}) {
    add_token(vocab, name, TokenKind::byte);
  }
  const auto tokenizer = make(std::move(vocab));
  EXPECT_EQ(tokenizer->piece(259), "<0xZZ>");
  EXPECT_EQ(tokenizer->piece(263), "<0x+1>");
}

TEST(HostileVocab, SpellingsThatAreNoUtf8StandForThemselves) {
  Vocab vocab = bpe_vocab({});
  const TokenId odd = add_token(vocab, "\xFF\xE4\xBD\u4F60", TokenKind::normal);
  EXPECT_EQ(make(std::move(vocab))->piece(odd), "\xFF\xE4\xBD\u4F60");
}

TEST(HostileVocab, AFileWithoutTokenizerIsAnErrorThatNamesTheKey) {
  const std::string header("GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24);
  const auto file = gguf::File::parse(std::as_bytes(std::span(header)), "x.gguf");
  ASSERT_TRUE(file) << to_string(file.error());
  const auto made = engine::load_tokenizer(*file);
  ASSERT_FALSE(made);
  EXPECT_THAT(to_string(made.error()), testing::HasSubstr("x.gguf"));
  EXPECT_THAT(to_string(made.error()), testing::HasSubstr("tokenizer.ggml.model"));
}

}  // namespace
}  // namespace evener::tokenizer::test
