// Goal: a folder's tokenizer is what its files say together, and equals the one of the GGUF file
// that others made from such a folder. Method: small folders, and the corpus of test_tokenizer.
#include "hf/folder_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hf/folder_vocab.h"
#include "hf/tokenizer_folder.h"
#include "tokenizer/corpus.h"
#include "tokenizer/normal_form.h"

namespace evener::hf::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tokenizer::SpecialTokens;
using tokenizer::TokenKind;

std::unique_ptr<tokenizer::Tokenizer> load(const std::filesystem::path& folder) {
  auto made = load_folder_tokenizer(folder);
  EXPECT_TRUE(made.has_value()) << to_string(made.error());
  return *std::move(made);
}

std::string complaint(const TokenizerFolder& folder) {
  const auto made = load_folder_tokenizer(folder.path());
  return made ? "" : to_string(made.error());
}

// GGUF has no word for the normal form that these folders ask for.
void expect_ids_of_gguf(const tokenizer::Tokenizer& made) {
  const auto expected = tokenizer::test::load("tiny35");
  ASSERT_GE(tokenizer::test::corpus_texts().size(), 2000U);
  for (const std::string& text : tokenizer::test::corpus_texts()) {
    const std::string normal = to_normal_form(text, tokenizer::NormalForm::nfc);
    EXPECT_EQ(made.encode(text), expected->encode(normal)) << text;
    if (normal != text) continue;
    const tokenizer::EncodeOptions parse{.special = SpecialTokens::parse, .add_special = true};
    EXPECT_EQ(made.encode(text, parse), expected->encode(text, parse)) << text;
  }
}

TEST(FolderTokenizer, GivesTheIdsOfTheGgufFile) {
  const TokenizerFolder folder(tiny35_json());
  expect_ids_of_gguf(*load(folder.path()));
}

TEST(FolderTokenizer, OfATrainedModelIsThatOfItsGgufFile) {
  const auto path = std::filesystem::path(EVENER_SHARED) / "models/tiny35-hf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the trained models";
  const auto made = load(path);
  const auto expected = tokenizer::test::load("tiny35");
  ASSERT_EQ(made->size(), expected->size());
  for (tokenizer::TokenId id = 0; size_t(id) < made->size(); ++id) {
    EXPECT_EQ(made->piece(id), expected->piece(id)) << id;
    EXPECT_EQ(made->kind(id), expected->kind(id)) << id;
  }
  EXPECT_EQ(made->eos(), expected->eos());
  EXPECT_EQ(made->pad(), expected->pad());
  EXPECT_THAT(made->eog_tokens(), testing::ElementsAreArray(expected->eog_tokens()));
  expect_ids_of_gguf(*made);
}

TEST(FolderTokenizer, EndsWhereGenerationConfigSays) {
  const TokenizerFolder folder(bytes_json());
  folder.write("config.json", R"({"eos_token_id":1,"text_config":{"eos_token_id":2}})");
  EXPECT_THAT(load(folder.path())->eog_tokens(), ElementsAre(1));
  folder.write("config.json", R"({"text_config":{"eos_token_id":[2,3]}})");
  EXPECT_THAT(load(folder.path())->eog_tokens(), ElementsAre(2, 3));
  folder.write("generation_config.json", R"({"eos_token_id":[257,256]})");
  EXPECT_THAT(load(folder.path())->eog_tokens(), ElementsAre(256, 257));
  folder.write("tokenizer_config.json", R"({"eos_token":"<end>"})");
  folder.write("generation_config.json", R"({"eos_token_id":257})");
  EXPECT_THAT(load(folder.path())->eog_tokens(), ElementsAre(256, 257));
  EXPECT_EQ(load(folder.path())->eos(), 256);
}

TEST(FolderTokenizer, HasATokenForEachRowOfTheEmbeddings) {
  const TokenizerFolder folder(bytes_json());
  folder.write("config.json", R"({"text_config":{"vocab_size":320}})");
  const auto made = load(folder.path());
  EXPECT_EQ(made->size(), 320U);
  EXPECT_EQ(made->kind(319), TokenKind::unused);
  EXPECT_EQ(made->decode(std::vector<tokenizer::TokenId>{'a', 319, 'b'}), "ab");
  folder.write("config.json", R"({"vocab_size":100})");
  EXPECT_THAT(complaint(folder),
              HasSubstr("config.json, field 'vocab_size': is 100, tokenizer.json has 258 tokens"));
  folder.write("config.json", R"({"vocab_size":1000000000000})");
  EXPECT_THAT(complaint(folder), HasSubstr("tokenizer.json has only 258 tokens"));
}

TEST(FolderTokenizer, AddsABeginningOnlyWhereAFileSaysSo) {
  const TokenizerFolder folder(space_marks_json());
  folder.write("tokenizer_config.json", R"({"bos_token":"<s>","eos_token":"</s>"})");
  EXPECT_THAT(load(folder.path())->encode("ab", {.add_special = true}), ElementsAre(264));
  folder.write(
      "tokenizer_config.json",
      R"({"bos_token":"<s>","eos_token":"</s>","add_bos_token":true,"add_eos_token":true})");
  EXPECT_THAT(load(folder.path())->encode("ab", {.add_special = true}), ElementsAre(1, 264, 2));
}

TEST(FolderTokenizer, TakesTokensThatOnlyItsConfigLists) {
  const TokenizerFolder folder(bytes_json());
  folder.write("tokenizer_config.json", R"({"added_tokens_decoder":{
      "256":{"content":"not asked","special":true},
      "260":{"content":"<think>"},
      "261":{"content":"<mask>","special":true,"lstrip":true}},
      "pad_token":{"content":"<mask>"}})");
  const auto made = load(folder.path());
  EXPECT_EQ(made->spelling(256), "<end>");
  EXPECT_EQ(made->kind(260), TokenKind::user_defined);
  EXPECT_EQ(made->kind(259), TokenKind::unused);
  EXPECT_EQ(made->pad(), 261);
  EXPECT_THAT(made->encode("a <mask>", {.special = SpecialTokens::parse}), ElementsAre('a', 261));
}

TEST(FolderTokenizer, NamesWhatIsWrong) {
  const TokenizerFolder folder(bytes_json());
  const auto of = [&](const char* file, std::string_view text) {
    folder.write(file, text);
    std::string said = complaint(folder);
    folder.write(file, "{}");
    return said;
  };
  EXPECT_THAT(of("tokenizer_config.json", "[]"), HasSubstr("tokenizer_config.json: is a list"));
  EXPECT_THAT(of("tokenizer_config.json", R"({"added_tokens_decoder":{"x":{"content":"y"}}})"),
              HasSubstr("field 'added_tokens_decoder.x': is not named by an id"));
  EXPECT_THAT(of("tokenizer_config.json", R"({"added_tokens_decoder":{"260":3}})"),
              HasSubstr("field 'added_tokens_decoder.260': is a number, not an object"));
  EXPECT_THAT(
      of("tokenizer_config.json", R"({"added_tokens_decoder":{"16000000":{"content":"y"}}})"),
      HasSubstr("field 'added_tokens_decoder': has 259 tokens with ids up to 16000000"));
  EXPECT_THAT(of("generation_config.json", R"({"eos_token_id":258})"),
              HasSubstr("generation_config.json, field 'eos_token_id': is 258, at most 257"));
  EXPECT_THAT(of("generation_config.json", R"({"eos_token_id":"<end>"})"),
              HasSubstr("field 'eos_token_id': is a text"));
  EXPECT_THAT(of(
                  "generation_config.json", "{\"eos_token_id\":[" +
                                                [] {
                                                  std::string list = "1";
                                                  for (int i = 0; i < 256; ++i) list += ",1";
                                                  return list;
                                                }() +
                                                "]}"),
              HasSubstr("field 'eos_token_id': has 257 ids, at most 256 are read"));
  EXPECT_THAT(of("config.json", R"({"vocab_size":)"), HasSubstr("config.json: is not valid JSON"));
  std::filesystem::remove(folder.path() / "tokenizer.json");
  EXPECT_THAT(complaint(folder), HasSubstr("tokenizer.json: there is no such file"));
}

TEST(ChatTemplate, IsAFileOrAFieldOrNothing) {
  const TokenizerFolder folder(bytes_json());
  EXPECT_EQ(*read_chat_template(folder.path()), "");
  folder.write("tokenizer_config.json", R"({"chat_template":"one"})");
  EXPECT_EQ(*read_chat_template(folder.path()), "one");
  folder.write("tokenizer_config.json", R"({"chat_template":[{"name":"tool_use","template":"two"},
      {"name":"default","template":"three"}]})");
  EXPECT_EQ(*read_chat_template(folder.path()), "three");
  folder.write("tokenizer_config.json",
               R"({"chat_template":[{"name":"tool_use","template":"two"}]})");
  EXPECT_EQ(*read_chat_template(folder.path()), "");
  folder.write("chat_template.jinja", "four");
  EXPECT_EQ(*read_chat_template(folder.path()), "four");
}

TEST(ChatTemplate, ThatIsNoTextIsNamed) {
  const TokenizerFolder folder(bytes_json());
  const auto said = [&] {
    const auto read = read_chat_template(folder.path());
    return read ? "" : to_string(read.error());
  };
  folder.write("tokenizer_config.json", R"({"chat_template":7})");
  EXPECT_THAT(said(), HasSubstr("field 'chat_template': is a number, not a text"));
  folder.write("tokenizer_config.json", R"({"chat_template":[{"name":"default"}]})");
  EXPECT_THAT(said(), HasSubstr("field 'chat_template.0', field 'template': is missing"));
  folder.write("chat_template.jinja", "\xff");
  EXPECT_THAT(said(), HasSubstr("chat_template.jinja: is not valid UTF-8"));
}

}  // namespace
}  // namespace evener::hf::test
