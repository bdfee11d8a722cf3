// Goal: every part of a tokenizer.json that a BPE vocabulary uses does what it says, and what is
// wrong or unknown in one is named. Method: small documents of our own; ids follow from the rules.
#include "tokenizer/tokenizer_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/log.h"
#include "base/utf8.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer.h"

namespace evener::tokenizer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<TokenId>;

constexpr EncodeOptions kParse = {.special = SpecialTokens::parse};

std::string spelled(std::string_view bytes) {
  std::string spelling;
  for (const char byte : bytes) utf8::append(spelling, byte_to_character(uint8_t(byte)));
  return spelling;
}

// All 256 bytes, whose ids are their values, and "ab" (256), " a" (257) and "12" (258).
json byte_level() {
  json vocab;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char text = char(byte);
    vocab[spelled({&text, 1})] = byte;
  }
  vocab["ab"] = 256;
  vocab[spelled(" a")] = 257;
  vocab["12"] = 258;
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", R"( ?\p{L}+|\p{N}|\s+(?!\S)|\s+)"}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  return {{"added_tokens", json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", json::array({split, bytes})}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"vocab", vocab},
            {"merges", json::array({"a b", json::array({spelled(" "), "a"}), "1 2"})}}}};
}

// <unk> <s> </s>, byte b as 3 + b, then from 259 on: the mark, a, b, "mark a" and "ab".
json space_marks() {
  const std::string mark(kSpaceMark);
  json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (unsigned byte = 0; byte < 256; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  vocab[mark] = 259;
  vocab["a"] = 260;
  vocab["b"] = 261;
  vocab[mark + "a"] = 262;
  vocab["ab"] = 263;
  const json prepend = {{"type", "Prepend"}, {"prepend", mark}};
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", mark}};
  return {{"added_tokens", json::array()},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", json::array({prepend, replace})}}},
          {"pre_tokenizer", nullptr},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", json::array({"a b", mark + " a"})}}}};
}

json added(const std::string& content, int id, const json& flags = json::object()) {
  json token = {{"id", id}, {"content", content}};
  token.update(flags);
  return token;
}

Result<std::unique_ptr<Tokenizer>> try_make(const json& document) {
  ASSIGN_OR_RETURN(Vocab vocab, read_tokenizer_json(document.dump(), "t.json"));
  return Tokenizer::create(std::move(vocab));
}

std::unique_ptr<Tokenizer> make(const json& document) {
  auto made = try_make(document);
  EXPECT_TRUE(made.has_value()) << to_string(made.error());
  return std::move(*made);
}

std::string complaint(const json& document) {
  const auto made = try_make(document);
  return made ? "" : to_string(made.error());
}

TEST(TokenizerJson, ByteLevelTextIsSplitThenMerged) {
  const auto tokenizer = make(byte_level());
  EXPECT_EQ(tokenizer->size(), 259U);
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(256));
  EXPECT_THAT(tokenizer->encode("b ab"), ElementsAre('b', ' ', 256));  // the first merge goes first
  EXPECT_THAT(tokenizer->encode(" a"), ElementsAre(257));
  EXPECT_THAT(tokenizer->encode("12"), ElementsAre('1', '2'));  // two words
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a 12 \xff\u00e9")), "a 12 \xff\u00e9");
  EXPECT_FALSE(tokenizer->adds_bos());
}

TEST(TokenizerJson, WordsThatAreTokensMayStayWhole) {
  json document = byte_level();
  document["model"]["merges"] = json::array();
  EXPECT_THAT(make(document)->encode("ab"), ElementsAre('a', 'b'));
  document["model"]["ignore_merges"] = true;
  EXPECT_THAT(make(document)->encode("ab"), ElementsAre(256));
}

TEST(TokenizerJson, TheByteLevelPartMaySplitByItself) {
  json document = byte_level();
  document["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  EXPECT_THAT(make(document)->encode("12ab"), ElementsAre(258, 256));
  document["pre_tokenizer"] = {{"type", "Sequence"},
                               {"pretokenizers",
                                {{{"type", "Digits"}, {"individual_digits", true}},
                                 {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  EXPECT_THAT(make(document)->encode("12ab"), ElementsAre('1', '2', 256));
}

TEST(TokenizerJson, TextsAreBroughtIntoTheirNormalForm) {
  json document = byte_level();
  document["normalizer"] = {{"type", "NFC"}};
  const auto tokenizer = make(document);
  EXPECT_EQ(tokenizer->encode("e\u0301"), tokenizer->encode("\u00e9"));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("\xff"
                                                "e\u0301\xfe")),
            "\xff\u00e9\xfe");
  document["normalizer"] = {{"type", "NFD"}};
  EXPECT_EQ(make(document)->decode(make(document)->encode("\u00e9")), "e\u0301");
  document["normalizer"] = {{"type", "NFKC"}};
  EXPECT_EQ(make(document)->decode(make(document)->encode("\ufb01")), "fi");
}

TEST(TokenizerJson, SpacesMayBeMarks) {
  const auto tokenizer = make(space_marks());
  EXPECT_THAT(tokenizer->encode("a b"), ElementsAre(262, 259, 261));
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(259, 263));  // "a b" stands before "mark a"
  EXPECT_THAT(tokenizer->encode("\u00e9"), ElementsAre(259, 3 + 0xC3, 3 + 0xA9));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a b\u00e9")), "a b\u00e9");
  EXPECT_EQ(tokenizer->bos(), std::nullopt);  // the file names none
  EXPECT_EQ(tokenizer->unk(), 0);
}

TEST(TokenizerJson, WithoutPrependNoSpaceIsPutBefore) {
  json document = space_marks();
  document["normalizer"] = document["normalizer"]["normalizers"][1];
  EXPECT_THAT(make(document)->encode("a"), ElementsAre(260));
}

TEST(TokenizerJson, MetaspaceSaysWhereASpaceIsPutBefore) {
  json document = space_marks();
  document["normalizer"] = nullptr;
  document["added_tokens"] = json::array({added("<x>", 264)});
  const auto encode = [&](const char* scheme, std::string_view text) {
    document["pre_tokenizer"] = {
        {"type", "Metaspace"}, {"replacement", kSpaceMark}, {"prepend_scheme", scheme}};
    document["added_tokens"][0]["normalized"] = false;
    return make(document)->encode(text);
  };
  EXPECT_THAT(encode("always", "a<x>a"), ElementsAre(262, 264, 262));
  EXPECT_THAT(encode("first", "a<x>a"), ElementsAre(262, 264, 260));
  EXPECT_THAT(encode("never", "a<x>a"), ElementsAre(260, 264, 260));
  EXPECT_THAT(encode("always", " a"), ElementsAre(262));  // there is one already
}

TEST(TokenizerJson, AddedTokensAreControlOrUserDefined) {
  json document = byte_level();
  document["added_tokens"] =
      json::array({added("<c>", 259, {{"special", true}}), added("<u>", 260)});
  const auto tokenizer = make(document);
  EXPECT_EQ(tokenizer->kind(259), TokenKind::control);
  EXPECT_EQ(tokenizer->kind(260), TokenKind::user_defined);
  EXPECT_THAT(tokenizer->encode("<c><u>", kParse), ElementsAre(259, 260));
  EXPECT_THAT(tokenizer->encode("<c><u>"), ElementsAre('<', 'c', '>', 260));
}

TEST(TokenizerJson, AddedTokensMayTakeWhiteSpaceAlong) {
  json document = byte_level();
  document["added_tokens"] =
      json::array({added("<l>", 259, {{"lstrip", true}}), added("<r>", 260, {{"rstrip", true}}),
                   added("<n>", 261)});
  const auto tokenizer = make(document);
  EXPECT_THAT(tokenizer->encode("x \u3000<l> x"), ElementsAre('x', 259, ' ', 'x'));
  EXPECT_THAT(tokenizer->encode("x <r> \n x"), ElementsAre('x', ' ', 260, 'x'));
  EXPECT_THAT(tokenizer->encode("x <n> x"), ElementsAre('x', ' ', 261, ' ', 'x'));
  EXPECT_THAT(tokenizer->encode("<r> <l>"), ElementsAre(260, 259));
}

TEST(TokenizerJson, AddedTokensMayBeWordsAlone) {
  json document = byte_level();
  document["added_tokens"] = json::array({added("cd", 259, {{"single_word", true}})});
  const auto tokenizer = make(document);
  EXPECT_THAT(tokenizer->encode("cd"), ElementsAre(259));
  EXPECT_THAT(tokenizer->encode("-cd."), ElementsAre('-', 259, '.'));
  EXPECT_THAT(tokenizer->encode("cdx"), ElementsAre('c', 'd', 'x'));
  EXPECT_THAT(tokenizer->encode("_cd"), ElementsAre('_', 'c', 'd'));
}

// gemma3 adds its runs of spaces in the vocabulary's spelling; in texts they come from merges.
TEST(TokenizerJson, AddedRunsOfMarksAreSpaces) {
  json document = space_marks();
  const std::string two = std::string(kSpaceMark).append(kSpaceMark);
  document["model"]["merges"].push_back(std::string(kSpaceMark) + " " + std::string(kSpaceMark));
  document["added_tokens"] = json::array({added(two, 264), added(two + "x", 265)});
  const auto tokenizer = make(document);
  EXPECT_THAT(tokenizer->encode(" b"), ElementsAre(264, 261));
  EXPECT_THAT(tokenizer->encode("\u2581b"), ElementsAre(264, 261));
  EXPECT_THAT(tokenizer->encode("b  x"), ElementsAre(259, 261, 265));
  EXPECT_EQ(tokenizer->piece(264), "  ");
}

TEST(TokenizerJson, IdsMayHaveGaps) {
  json document = byte_level();
  document["added_tokens"] = json::array({added("<u>", 300)});
  const auto tokenizer = make(document);
  EXPECT_EQ(tokenizer->size(), 301U);
  EXPECT_EQ(tokenizer->kind(280), TokenKind::unused);
  EXPECT_EQ(tokenizer->piece(280), "");
}

TEST(TokenizerJson, TheTemplateSaysWhatStandsAtTheEnds) {
  json document = space_marks();
  const json bos = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json eos = {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  document["post_processor"] = {{"type", "TemplateProcessing"},
                                {"single", json::array({bos, text, eos})}};
  EXPECT_THAT(make(document)->encode("a", {.add_special = true}), ElementsAre(1, 262, 2));
  document["post_processor"]["single"] = json::array({text});
  EXPECT_THAT(make(document)->encode("a", {.add_special = true}), ElementsAre(262));
  document["post_processor"]["single"] = json::array({bos, bos, text});
  EXPECT_THAT(complaint(document), HasSubstr("puts two tokens at one end"));
  const json unknown = {{"SpecialToken", {{"id", "<q>"}}}};
  document["post_processor"]["single"] = json::array({unknown});
  EXPECT_THAT(complaint(document), HasSubstr("is no token of the vocabulary"));
}

TEST(TokenizerConfig, NamesTokensAndSaysWhetherTheyAreAdded) {
  auto vocab = read_tokenizer_json(space_marks().dump(), "t.json");
  ASSERT_TRUE(vocab.has_value()) << to_string(vocab.error());
  const auto add = [&](const char* text) {
    const auto value = evener::json::parse(text, "c.json");
    const auto added_now =
        add_tokenizer_config(*evener::json::Fields::of(*value, "c.json"), *vocab);
    return added_now ? std::string() : to_string(added_now.error());
  };
  EXPECT_EQ(add(R"({"bos_token":{"content":"<s>"},"eos_token":"</s>","pad_token":null,
                    "add_bos_token":true})"),
            "");
  EXPECT_EQ(vocab->bos, 1);
  EXPECT_EQ(vocab->eos, 2);
  EXPECT_EQ(vocab->pad, std::nullopt);
  EXPECT_EQ(vocab->add_bos, true);
  EXPECT_EQ(add(R"({"eos_token":"<q>"})"),
            "cannot load model: c.json, field 'eos_token': is no token of the vocabulary");
  EXPECT_THAT(add(R"({"eos_token":7})"), HasSubstr("is a number, not a text"));
  EXPECT_THAT(add(R"({"eos_token":{}})"), HasSubstr("field 'eos_token.content': is missing"));
}

// ------------------------------------------------------------------------- wrong ones

struct Change {
  const char* pointer;  // JSON pointer of what is replaced
  const char* value;
  const char* message;  // part of it
};

void PrintTo(const Change& change, std::ostream* stream) {
  *stream << change.pointer << " = " << change.value;
}

class WrongDocuments : public testing::TestWithParam<Change> {};

TEST_P(WrongDocuments, AreRefusedByName) {
  json document = byte_level();
  document[json::json_pointer(GetParam().pointer)] = json::parse(GetParam().value);
  const std::string text = complaint(document);
  EXPECT_THAT(text, HasSubstr("cannot load model: t.json"));
  EXPECT_THAT(text, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongDocuments,
    testing::Values(
        Change{"/model", "null", "field 'model': is missing"},
        Change{"/model/type", R"("Unigram")", "is 'Unigram', only BPE is read"},
        Change{"/model/vocab", "[]", "is missing"},
        Change{"/model/vocab/a", R"("x")", "has a token whose id is no number"},
        Change{"/model/vocab/a", "-1", "has a token whose id is no number"},
        Change{"/model/vocab/a", "{}", "has a token whose id is no number"},
        Change{"/model/vocab/a", "99999999999", "has a token 99999999999"},
        Change{"/model/vocab/a", "16000000", "tokens with ids up to 16000000"},
        Change{"/model/vocab/a", "98", "token 98 is both"},
        Change{"/model/merges", "[[\"a\"]]", "has a merge of other than two tokens"},
        Change{"/model/merges", R"([["a","b","c"]])", "has a merge of other than two tokens"},
        Change{"/model/merges", "[3]", "has a merge that is no text"},
        Change{"/model/merges", R"([[["a"]]])", "has a merge that is no text"},
        Change{"/model/unk_token", R"("<q>")", "unk_token': is no token of the vocabulary"},
        Change{"/model/end_of_word_suffix", R"("</w>")", "end_of_word_suffix': is not empty"},
        Change{"/added_tokens", "{}", "field 'added_tokens': is not a list"},
        Change{"/added_tokens", "[3]", "field 'added_tokens.0': is a number, not an object"},
        Change{"/added_tokens", R"([{"id":1,"content":"z"}])", "token 1 is both"},
        Change{"/added_tokens", R"([{"content":"z"}])", "field 'id': is missing"},
        Change{"/normalizer", R"({"type":"Lowercase"})", "'Lowercase' is not one that Evener has"},
        Change{"/normalizer", R"({"type":"Replace","pattern":{"String":"a"},"content":"b"})",
               "is not a space that becomes U+2581"},
        Change{"/normalizer",
               R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"NFD"}]})",
               "field 'normalizer.normalizers.1', field 'type': is a second normal form"},
        Change{"/pre_tokenizer", "null", "is neither byte-level nor has it marks for spaces"},
        Change{"/pre_tokenizer", R"({"type":"Whitespace"})", "'Whitespace' is not one"},
        Change{"/pre_tokenizer", R"({"type":"Sequence"})",
               "field 'pre_tokenizer.pretokenizers': is"},
        Change{"/pre_tokenizer", R"({"type":"ByteLevel"})",
               "field 'pre_tokenizer.add_prefix_space'"},
        Change{"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\"(?R)\"",
               "this kind of group is not read"},
        Change{"/pre_tokenizer/pretokenizers/0/behavior", R"("Removed")",
               "'Removed' is not one that Evener has"},
        Change{"/decoder", R"({"type":"WordPiece"})", "'WordPiece' is not one"},
        Change{"/post_processor", R"({"type":"RobertaProcessing"})",
               "'RobertaProcessing' is not"}));

TEST(TokenizerJson, MergesOfUnknownTokensAreIgnored) {
  json document = byte_level();
  document["model"]["merges"].push_back("q nothing");
  EXPECT_THAT(make(document)->encode("ab"), ElementsAre(256));
}

TEST(TokenizerJson, ThatIsNoJsonIsNamed) {
  const auto read = read_tokenizer_json("{\"model\":", "t.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(to_string(read.error()), HasSubstr("t.json: is not valid JSON at byte"));
}

// Cut anywhere, or with one byte replaced, a document is refused or makes a usable vocabulary.
TEST(TokenizerJson, SurvivesDamage) {
  log::set_level(log::Level::error);  // most lack a byte
  const std::string good = byte_level().dump();
  for (size_t size = 0; size < good.size(); size += 7) {
    EXPECT_FALSE(read_tokenizer_json(good.substr(0, size), "t.json").has_value()) << size;
  }
  for (size_t i = 0; i < good.size(); i += 3) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 1);
    auto vocab = read_tokenizer_json(bytes, "t.json");
    if (!vocab) continue;
    const auto tokenizer = Tokenizer::create(*std::move(vocab));
    if (tokenizer) (void)(*tokenizer)->encode("ab 12");
  }
  log::set_level(log::Level::info);
}

TEST(TokenizerJson, OfATrainedModelGivesTheTokensItWasTrainedOn) {
  const auto models = std::filesystem::path(EVENER_SHARED) / "models";
  if (!std::filesystem::exists(models)) GTEST_SKIP() << "needs the trained models";
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  auto vocab = read_tokenizer_json(read(models / "tiny35-hf/tokenizer.json"), "tokenizer.json");
  ASSERT_TRUE(vocab.has_value()) << to_string(vocab.error());
  const auto tokenizer = Tokenizer::create(*std::move(vocab));
  ASSERT_TRUE(tokenizer.has_value()) << to_string(tokenizer.error());
  const Ids ids = (*tokenizer)->encode(read(models / "text/valid.txt"), kParse);
  // NumPy's format: a header of 128 bytes, then numbers of 16 or 32 bits.
  const std::string expected = read(models / "text/valid.tokens.npy");
  const size_t width = expected.find("i4") != std::string::npos ? 4 : 2;
  ASSERT_EQ((expected.size() - 128) / width, ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    int32_t id = 0;
    std::memcpy(&id, expected.data() + 128 + i * width, width);
    ASSERT_EQ(ids[i], id) << i;
  }
}

}  // namespace
}  // namespace evener::tokenizer
