#include "tokenizer/detokenizer.h"

#include "vocabularies.h"

namespace evener::tokenizer::test {
namespace {

TEST(Detokenizer, HoldsBytesBackUntilTheCharacterIsWhole) {
  const auto tokenizer = make(bpe_vocab({}));
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(0xF0), "");
  EXPECT_EQ(detokenizer.push(0x9F), "");
  EXPECT_EQ(detokenizer.push(0x98), "");
  EXPECT_EQ(detokenizer.push(0x80), "\U0001F600");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, ReplacesWhatCanNeverBecomeACharacter) {
  const auto tokenizer = make(bpe_vocab({}));
  Detokenizer detokenizer(*tokenizer);
  EXPECT_EQ(detokenizer.push(0xFF), "\uFFFD");
  EXPECT_EQ(detokenizer.push(0xE4), "");
  EXPECT_EQ(detokenizer.push('a'), "\uFFFDa");
  EXPECT_EQ(detokenizer.push(0xE4), "");
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, KeepsTheSpaceThatContinuesAText) {
  const auto tokenizer = make(spm_vocab({"\u2581a"}));
  Detokenizer answer(*tokenizer);
  EXPECT_EQ(answer.push(259), " a");
  Detokenizer text(*tokenizer, {.at_text_start = true});
  EXPECT_EQ(text.push(1), "");  // bos
  EXPECT_EQ(text.push(259), "a");
  EXPECT_EQ(text.push(259), " a");
}

TEST(Detokenizer, SkipsSpecialTokensOnlyWhenAsked) {
  const auto tokenizer = make(spm_vocab({}));
  Detokenizer skipping(*tokenizer);
  EXPECT_EQ(skipping.push(2), "");
  Detokenizer showing(*tokenizer, {.skip_special = false});
  EXPECT_EQ(showing.push(2), "</s>");
  EXPECT_EQ(showing.push(-7), "");
  EXPECT_EQ(showing.push(1 << 30), "");
}

}  // namespace
}  // namespace evener::tokenizer::test
