#include <gmock/gmock.h>

#include "vocabularies.h"

namespace evener::tokenizer::test {
namespace {

using testing::ElementsAre;

constexpr TokenId kFirstPiece = 259;
constexpr TokenId byte_token(unsigned char byte) { return 3 + byte; }

TEST(Spm, MergesTheHighestScoreFirstWhateverTheOrderOfIds) {
  Vocab vocab = spm_vocab({"a", "b", "c", "ab", "bc"});
  vocab.add_space_prefix = false;
  EXPECT_THAT(make(vocab)->encode("abc"), ElementsAre(kFirstPiece + 3, kFirstPiece + 2));
  vocab.scores[kFirstPiece + 4] = 1;
  EXPECT_THAT(make(vocab)->encode("abc"), ElementsAre(kFirstPiece, kFirstPiece + 4));
}

TEST(Spm, SpellsCharactersWithoutTokenInBytes) {
  const auto tokenizer = make(spm_vocab({"\u2581", "a"}));
  EXPECT_THAT(tokenizer->encode("a\u00E9"),
              ElementsAre(kFirstPiece, kFirstPiece + 1, byte_token(0xC3), byte_token(0xA9)));
}

TEST(Spm, PrefixesASpaceAtTheStartAndAfterEachSpecialToken) {
  const auto tokenizer = make(spm_vocab({"\u2581", "a"}));
  const EncodeOptions options = {.special = SpecialTokens::parse, .add_special = true};
  EXPECT_THAT(tokenizer->encode("a</s>a", options),
              ElementsAre(1, kFirstPiece, kFirstPiece + 1, 2, kFirstPiece, kFirstPiece + 1));
  EXPECT_THAT(tokenizer->encode("", options), ElementsAre(1));
}

TEST(Spm, DecodeLeavesTheSpacePrefixOutAlsoBehindBos) {
  const auto tokenizer = make(spm_vocab({"\u2581", "a", "\u2581a"}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a  a")), "a  a");
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" a")), " a");
  const Ids with_bos = tokenizer->encode("a", {.add_special = true});
  EXPECT_EQ(tokenizer->decode(with_bos, {.skip_special = true}), "a");
  EXPECT_EQ(tokenizer->decode(with_bos), "<s>a");
}

TEST(Spm, KeepsSpacesOfATextWhoseVocabularyAddsNone) {
  Vocab vocab = spm_vocab({"\u2581", "a"});
  vocab.add_space_prefix = false;
  const auto tokenizer = make(std::move(vocab));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" a ")), " a ");
}

TEST(Spm, MergesAcrossASpaceWhereATokenHoldsOne) {
  Vocab vocab = spm_vocab({"\u2581", "a", "b", "\u2581b", "a\u2581b"});
  vocab.add_space_prefix = false;
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("a b"), ElementsAre(kFirstPiece + 4));
  EXPECT_THAT(tokenizer->encode("b b"), ElementsAre(kFirstPiece + 2, kFirstPiece + 3));
}

TEST(Spm, GivesAByteWithoutTokenTheUnknownOne) {
  Vocab vocab = spm_vocab({"a"});
  vocab.add_space_prefix = false;
  for (const size_t byte : {0xC3, 0xA9}) vocab.tokens[3 + byte] = "gone";
  EXPECT_THAT(make(vocab)->encode("a\u00E9"), ElementsAre(kFirstPiece, 0, 0));
}

TEST(Spm, EncodesAMillionBytesOfOneWord) {
  const auto tokenizer = make(spm_vocab({"\u2581", "a", "aa", "aaaa", "aaaaaaaa"}));
  for (const char* piece : {"a", " ", "b", "\xE4\xBD\xA0"}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << piece;
  }
}

TEST(Spm, AgreesWithTheTrainedStoriesModelOfTheSharedFolder) {
  const std::string path = std::string(EVENER_SHARED) + "/models/stories260k-f16.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const auto file = gguf::File::open(path);
  ASSERT_TRUE(file);
  const auto tokenizer = engine::load_tokenizer(*file);
  ASSERT_TRUE(tokenizer);
  const Ids ids = (*tokenizer)->encode("Once upon a time", {.add_special = true});
  EXPECT_EQ(ids.front(), (*tokenizer)->bos());
  EXPECT_EQ((*tokenizer)->decode(ids, {.skip_special = true}), "Once upon a time");
}

}  // namespace
}  // namespace evener::tokenizer::test
