#include <gmock/gmock.h>

#include "vocabularies.h"

namespace evener::tokenizer::test {
namespace {

using testing::ElementsAre;

constexpr EncodeOptions kParse = {.special = SpecialTokens::parse};

TEST(SpecialTokens, ControlOnesAreTextUntilParsingIsAskedForUserDefinedOnesNever) {
  Vocab vocab = bpe_vocab({});
  const TokenId control = add_token(vocab, "<c>", TokenKind::control);
  const TokenId user = add_token(vocab, "<u>", TokenKind::user_defined);
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode("<c><u>"), ElementsAre('<', 'c', '>', user));
  EXPECT_THAT(tokenizer->encode("<c><u>", kParse), ElementsAre(control, user));
}

TEST(SpecialTokens, ALongerOneGoesFirstWhereverItStands) {
  Vocab vocab = bpe_vocab({});
  const TokenId early = add_token(vocab, "aabc", TokenKind::user_defined);
  const TokenId longer = add_token(vocab, "bcdef", TokenKind::user_defined);
  const TokenId prefix = add_token(vocab, "aa", TokenKind::user_defined);
  const auto tokenizer = make(std::move(vocab));
  // "aabc" stands further left, but "bcdef" takes its letters first; then "aa" still fits.
  EXPECT_THAT(tokenizer->encode("aabcdef"), ElementsAre(prefix, longer));
  EXPECT_THAT(tokenizer->encode("aabcd"), ElementsAre(early, 'd'));
}

TEST(SpecialTokens, RunsOfOneTokenAreTakenFromTheLeft) {
  Vocab vocab = bpe_vocab({});
  const TokenId three = add_token(vocab, "\n\n\n", TokenKind::user_defined);
  const TokenId two = add_token(vocab, "\n\n", TokenKind::user_defined);
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->encode(std::string(5, '\n')), ElementsAre(three, two));
  EXPECT_THAT(tokenizer->encode(std::string(7, '\n')), ElementsAre(three, three, '\n'));
}

TEST(SpecialTokens, SkippingLeavesOutControlAndUnknownOnesOnly) {
  Vocab vocab = bpe_vocab({});
  const Ids ids = {add_token(vocab, "<c>", TokenKind::control), 'a',
                   add_token(vocab, "<u>", TokenKind::user_defined),
                   add_token(vocab, "<k>", TokenKind::unknown),
                   add_token(vocab, "<f>", TokenKind::unused)};
  const auto tokenizer = make(std::move(vocab));
  EXPECT_EQ(tokenizer->decode(ids), "<c>a<u><k>");
  EXPECT_EQ(tokenizer->decode(ids, {.skip_special = true}), "a<u>");
}

TEST(Roles, EndOfGenerationIsKnownByIdAndByName) {
  Vocab vocab = bpe_vocab({});
  const TokenId end = add_token(vocab, "<|im_end|>", TokenKind::normal);
  const TokenId text_end = add_token(vocab, "<|endoftext|>", TokenKind::control);
  const TokenId file = add_token(vocab, "<|file_sep|>", TokenKind::user_defined);
  const TokenId start = add_token(vocab, "<|im_start|>", TokenKind::control);
  vocab.eos = 'e';
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->eog_tokens(), ElementsAre('e', end, text_end, file));
  EXPECT_TRUE(tokenizer->is_eog(end));
  EXPECT_FALSE(tokenizer->is_eog(start));
  EXPECT_TRUE(tokenizer->is_control(end));  // the file called it normal
  EXPECT_EQ(tokenizer->eot(), end);
}

TEST(Roles, TheEndOfAHarmonyMessageDoesNotEndTheTurn) {
  Vocab vocab = bpe_vocab({});
  const TokenId end = add_token(vocab, "<|end|>", TokenKind::control);
  EXPECT_THAT(make(vocab)->eog_tokens(), ElementsAre(end));
  const TokenId ret = add_token(vocab, "<|return|>", TokenKind::control);
  const TokenId call = add_token(vocab, "<|call|>", TokenKind::control);
  const TokenId channel = add_token(vocab, "<|channel|>", TokenKind::control);
  const auto tokenizer = make(std::move(vocab));
  EXPECT_THAT(tokenizer->eog_tokens(), ElementsAre(ret, call));
  EXPECT_EQ(tokenizer->kind(end), TokenKind::user_defined);
  EXPECT_EQ(tokenizer->kind(channel), TokenKind::user_defined);
}

TEST(Roles, BosIsAddedWhereThePretokenizerOrTheFileSaysSo) {
  Vocab vocab = bpe_vocab({}, "llama-bpe");
  vocab.eos = 2;
  EXPECT_FALSE(make(vocab)->adds_bos());  // it has none
  vocab.bos = 1;
  EXPECT_THAT(make(vocab)->encode("", {.add_special = true}), ElementsAre(1));
  vocab.add_bos = false;
  vocab.add_eos = true;
  EXPECT_THAT(make(vocab)->encode("", {.add_special = true}), ElementsAre(2));
  vocab.pre = "qwen2";
  vocab.add_bos = {};
  EXPECT_FALSE(make(vocab)->adds_bos());
}

TEST(Roles, IdsOutsideTheVocabularyAreDropped) {
  Vocab vocab = bpe_vocab({});
  vocab.bos = 256;
  vocab.eos = -1;
  vocab.pad = int64_t{1} << 40;
  vocab.add_bos = true;
  const auto tokenizer = make(std::move(vocab));
  EXPECT_EQ(tokenizer->bos(), std::nullopt);
  EXPECT_EQ(tokenizer->eos(), std::nullopt);
  EXPECT_EQ(tokenizer->pad(), std::nullopt);
  EXPECT_FALSE(tokenizer->adds_bos());
}

}  // namespace
}  // namespace evener::tokenizer::test
