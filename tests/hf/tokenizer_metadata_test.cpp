// Goal: a GGUF file with the metadata of a folder gives the tokenizer of the folder; what GGUF
// cannot say is refused. Method: both tokenizers on the corpus of test_tokenizer.
#include "hf/tokenizer_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "engine/load_tokenizer.h"
#include "hf/folder_tokenizer.h"
#include "hf/tokenizer_folder.h"
#include "tokenizer/corpus.h"
#include "tokenizer/normal_form.h"

namespace evener::hf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tokenizer::gguf_key;

// The file of a header alone.
class Converted {
 public:
  explicit Converted(const std::filesystem::path& folder) {
    gguf::Header header;
    const auto added = add_tokenizer_metadata(folder, header);
    EXPECT_TRUE(added.has_value()) << to_string(added.error());
    bytes_ = header.encode();
  }

  gguf::File file() const {
    auto parsed = gguf::File::parse(bytes_, "made");
    EXPECT_TRUE(parsed.has_value()) << to_string(parsed.error());
    return *std::move(parsed);
  }

  std::unique_ptr<tokenizer::Tokenizer> tokenizer() const {
    auto made = engine::load_tokenizer(file());
    EXPECT_TRUE(made.has_value()) << to_string(made.error());
    return *std::move(made);
  }

 private:
  std::vector<std::byte> bytes_;
};

std::string refusal_of(const TokenizerFolder& folder) {
  gguf::Header header;
  const auto added = add_tokenizer_metadata(folder.path(), header);
  return added ? "" : to_string(added.error());
}

TEST(TokenizerMetadata, LoadsAsTheTokenizerOfTheFolder) {
  const TokenizerFolder folder(tiny35_json());
  folder.write("tokenizer_config.json",
               R"({"eos_token":"<|im_end|>","pad_token":"<|endoftext|>"})");
  folder.write("config.json", R"({"vocab_size":2080})");
  const auto read = load_folder_tokenizer(folder.path());
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  const auto made = Converted(folder.path()).tokenizer();
  for (const std::string& text : tokenizer::test::corpus_texts()) {
    const std::string normal = to_normal_form(text, tokenizer::NormalForm::nfc);
    EXPECT_EQ(made->encode(normal), (*read)->encode(text)) << text;
  }
  ASSERT_EQ(made->size(), (*read)->size());
  for (tokenizer::TokenId id = 0; size_t(id) < made->size(); ++id) {
    EXPECT_EQ(made->piece(id), (*read)->piece(id)) << id;
    EXPECT_EQ(made->kind(id), (*read)->kind(id)) << id;
  }
  EXPECT_EQ(made->eos(), (*read)->eos());
  EXPECT_EQ(made->pad(), (*read)->pad());
  EXPECT_EQ(made->adds_bos(), false);
  EXPECT_THAT(made->eog_tokens(), testing::ElementsAreArray((*read)->eog_tokens()));
}

TEST(TokenizerMetadata, HasTheKeysOfOtherConverters) {
  const TokenizerFolder folder(tiny35_json());
  folder.write("tokenizer_config.json", R"({"eos_token":"<|im_end|>","chat_template":"{{ x }}"})");
  folder.write("config.json", R"({"vocab_size":2080})");
  const Converted made(folder.path());
  const gguf::File file = made.file();
  EXPECT_EQ(file.get_string(gguf_key("model")).value(), "gpt2");
  EXPECT_EQ(file.get_string(gguf_key("pre")).value(), "qwen35");
  EXPECT_EQ(file.get_uint(gguf_key("eos_token_id")).value(), 2050U);
  EXPECT_FALSE(file.get_bool(gguf_key("add_bos_token")).value());
  EXPECT_FALSE(file.has(gguf_key("bos_token_id")));
  EXPECT_FALSE(file.has(gguf_key("scores")));
  EXPECT_EQ(file.get_strings(gguf_key("tokens"))->back(), "[PAD2079]");
  EXPECT_EQ(file.get_ints(gguf_key("token_type"))->back(), 5);
  EXPECT_EQ(file.get_string("tokenizer.chat_template").value(), "{{ x }}");
}

TEST(TokenizerMetadata, OfSpaceMarksHasScores) {
  const TokenizerFolder folder(space_marks_json());
  folder.write("tokenizer_config.json",
               R"({"bos_token":"<s>","eos_token":"</s>","add_bos_token":true})");
  const auto read = load_folder_tokenizer(folder.path());
  ASSERT_TRUE(read.has_value()) << to_string(read.error());
  const Converted made(folder.path());
  EXPECT_EQ(made.file().get_string(gguf_key("model")).value(), "llama");
  EXPECT_FALSE(made.file().has(gguf_key("merges")));
  const auto scores = made.file().get_floats(gguf_key("scores"));
  // The mark, a and b come from no merge; "mark ab" from the third first.
  EXPECT_THAT(std::vector(scores->end() - 6, scores->end()), ElementsAre(-4, -4, -4, -1, 0, -2));
  const auto tokenizer = made.tokenizer();
  EXPECT_EQ(tokenizer->unk(), 0);
  for (const char* text : {"", "ab", "a b", " ab", "aab abb", "\u00e9 ab</s>a", "b  a"}) {
    const tokenizer::EncodeOptions parse{.special = tokenizer::SpecialTokens::parse,
                                         .add_special = true};
    EXPECT_EQ(tokenizer->encode(text, parse), (*read)->encode(text, parse)) << text;
  }
}

TEST(TokenizerMetadata, NamesEndsThatNothingElseShows) {
  const TokenizerFolder folder(bytes_json());
  folder.write("generation_config.json", R"({"eos_token_id":[256,257]})");
  const auto made = Converted(folder.path()).tokenizer();
  EXPECT_THAT(made->eog_tokens(), ElementsAre(256, 257));
  EXPECT_EQ(made->eos(), 256);
}

TEST(TokenizerMetadata, RefusesWhatGgufCannotSay) {
  json document = bytes_json();
  document["pre_tokenizer"] = split_by(R"(\p{L}|\p{N}+)");
  EXPECT_THAT(refusal_of(TokenizerFolder(document)),
              HasSubstr("field 'pre_tokenizer': splits words by a rule that GGUF has no name for"));
  document = bytes_json();
  document["normalizer"] = {{"type", "NFKC"}};
  EXPECT_THAT(refusal_of(TokenizerFolder(document)),
              HasSubstr("field 'normalizer': brings texts into a normal form that GGUF lacks"));
}

}  // namespace
}  // namespace evener::hf::test
