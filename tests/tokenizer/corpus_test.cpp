// Goal: the ids of llama.cpp for 2,400 tricky texts (tests/peer/tokenizer_corpus.py makes them)
// with four vocabularies, its splits for every pre-tokenizer it has exactly, and exact round trips.
#include "corpus.h"

#include <array>
#include <cstring>

#include "base/utf8.h"
#include "tokenizer/detokenizer.h"

namespace evener::tokenizer::test {
namespace {

struct Expected {
  Ids plain;
  Ids parsed;
};

Expected read_expected(const std::string& line) {
  const size_t bar = line.find('|');
  const Ids plain = read_ids(line.substr(0, bar));
  if (bar == std::string::npos) return {plain, plain};
  return {plain, read_ids(line.substr(bar + 1))};
}

class Corpus : public testing::TestWithParam<const char*> {
 protected:
  bool is_spm() const { return std::strcmp(GetParam(), "spm") == 0; }
};

TEST_P(Corpus, GetsTheIdsOfLlamaCpp) {
  const auto tokenizer = load(GetParam());
  const auto lines = read_lines(std::string(GetParam()) + ".ids");
  ASSERT_GE(corpus_texts().size(), 2000U);
  ASSERT_EQ(lines.size(), corpus_texts().size());
  for (size_t i = 0; i < lines.size(); ++i) {
    // llama.cpp's byte-level BPE first replaces what is no UTF-8; we keep it. Its SentencePiece
    // trusts lead bytes, so that what follows a broken character is lost; ours does not.
    if (is_spm() && !utf8::is_valid(corpus_texts()[i])) continue;
    const std::string text = utf8::replace_invalid(corpus_texts()[i]);
    const Expected expected = read_expected(lines[i]);
    EXPECT_EQ(tokenizer->encode(text), expected.plain) << "line " << i + 1 << " of texts.txt";
    EXPECT_EQ(tokenizer->encode(text, {.special = SpecialTokens::parse}), expected.parsed)
        << "line " << i + 1 << " of texts.txt, special tokens parsed";
  }
}

TEST_P(Corpus, DecodesToTheSameBytes) {
  const auto tokenizer = load(GetParam());
  for (const std::string& text : corpus_texts()) {
    // Where this vocabulary's U+2581 is a space, the text's own cannot stay one.
    if (is_spm() && text.find("\u2581") != std::string::npos) continue;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    if (is_spm()) continue;  // there each special token brings a space with it
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, {.special = SpecialTokens::parse})), text);
  }
}

TEST_P(Corpus, StreamsTheSameTextWithoutHalfCharacters) {
  const auto tokenizer = load(GetParam());
  for (const std::string& text : corpus_texts()) {
    const Ids ids = tokenizer->encode(text);
    Detokenizer detokenizer(*tokenizer, {.skip_special = false, .at_text_start = true});
    std::string streamed;
    for (const TokenId id : ids) {
      const std::string piece = detokenizer.push(id);
      EXPECT_TRUE(utf8::is_valid(piece));
      streamed += piece;
    }
    streamed += detokenizer.finish();
    EXPECT_EQ(streamed, utf8::replace_invalid(tokenizer->decode(ids)));
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Corpus,
                         testing::Values("tiny35", "llama-bpe", "qwen2", "spm"),
                         [](const auto& param) {
                           const std::string name = param.param;
                           return name == "llama-bpe" ? "llama_bpe" : name;
                         });

class Decoding : public testing::TestWithParam<const char*> {};

TEST_P(Decoding, OfAnyIdsGivesTheBytesOfLlamaCpp) {
  const auto tokenizer = load(GetParam());
  const auto lines = read_lines(std::string(GetParam()) + ".decoded");
  ASSERT_EQ(lines.size(), 120U);
  for (const std::string& line : lines) {
    const size_t bar = line.find('|');
    const Ids ids = read_ids(line.substr(0, bar));
    if (ids[0] == tokenizer->bos()) continue;  // behind a leading bos we drop the space prefix too
    EXPECT_EQ(tokenizer->decode(ids), from_hex(line.substr(bar + 1))) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Decoding, testing::Values("tiny35", "qwen2", "spm"));

// The vocabulary of all byte pairs: which bytes pair up shows where words end.
Vocab pair_vocab(const std::string& pre) {
  std::vector<std::pair<std::string, std::string>> merges;
  for (unsigned b = 0; b < 256; ++b) {
    for (unsigned a = 0; a < 256; ++a) {
      merges.emplace_back(std::string(1, char(a)), std::string(1, char(b)));
    }
  }
  return bpe_vocab(merges, pre);
}

uint32_t crc32(std::span<const TokenId> ids) {
  uint32_t sum = 0xFFFF'FFFF;
  for (const TokenId id : ids) {
    for (int shift = 0; shift < 32; shift += 8) {
      sum ^= uint32_t(id) >> shift & 0xFF;
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xEDB8'8320 : 0);
    }
  }
  return ~sum;
}

TEST(Pretokenizers, SplitAsLlamaCppDoes) {
  const auto lines = read_lines("splits.txt");
  ASSERT_GE(lines.size(), 20U);
  for (const std::string& line : lines) {
    const size_t space = line.find(' ');
    const std::string pre = line.substr(0, space);
    SCOPED_TRACE(pre);
    const auto tokenizer = make(pair_vocab(pre));
    ASSERT_EQ(line.size() - space - 1, 4 * corpus_texts().size());
    for (size_t i = 0; i < corpus_texts().size(); ++i) {
      const Ids ids = tokenizer->encode(utf8::replace_invalid(corpus_texts()[i]));
      EXPECT_EQ(fmt::format("{:04x}", crc32(ids) & 0xFFFF), line.substr(space + 1 + 4 * i, 4))
          << "line " << i + 1 << " of texts.txt";
    }
  }
}

}  // namespace
}  // namespace evener::tokenizer::test
