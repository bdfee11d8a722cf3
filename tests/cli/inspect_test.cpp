// evener inspect: the whole text of a small model, and the JSON of an awkward one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/inspect_json.h"
#include "cli/inspect_text.h"
#include "gguf/file.h"
#include "gguf/header.h"

namespace evener::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A File with the bytes that it views.
struct Model {
  explicit Model(const gguf::Header& header) : bytes(header.encode()) {
    for (size_t i = 0; i < header.num_tensors(); ++i) {
      bytes.resize(bytes.size() + (header.tensor_bytes(i) + 31) / 32 * 32);
    }
    auto parsed = gguf::File::parse(bytes, "models/tiny.gguf");
    EXPECT_TRUE(parsed) << to_string(parsed.error());
    file.push_back(*std::move(parsed));
  }
  std::string text(const InspectOptions& options = {}) const {
    return inspect_text(file[0], options);
  }
  nlohmann::json json() const { return nlohmann::json::parse(inspect_json(file[0])); }

  std::vector<std::byte> bytes;
  std::vector<gguf::File> file;  // one: a File has no empty state
};

gguf::Header tiny() {
  gguf::Header header;
  header.set("general.architecture", "llama");
  header.set("general.name", "Tiny");
  header.set("general.file_type", uint32_t{7});
  header.set("llama.context_length", uint32_t{4096});
  header.set("llama.block_count", uint32_t{2});
  header.set("llama.embedding_length", uint32_t{32});
  header.set("llama.feed_forward_length", uint32_t{1000});
  header.set("llama.attention.head_count", uint32_t{4});
  header.set("tokenizer.ggml.model", "llama");
  header.set_array("tokenizer.ggml.tokens", std::vector<std::string_view>{"<s>", "</s>"});
  header.set("tokenizer.ggml.bos_token_id", uint32_t{0});
  header.set("tokenizer.chat_template", "one\ntwo\nthree\nfour\nfive");
  const uint64_t matrix[] = {32, 100};
  const uint64_t vector[] = {32};
  header.add_tensor("output.weight", DType::Q8_0, matrix);
  header.add_tensor("norm", DType::F32, vector);
  return header;
}

TEST(InspectText, IsThePageThatAPersonReads) {
  EXPECT_EQ(Model(tiny()).text({.tensors = true}),
            R"(tiny.gguf: llama, 3.23 K parameters, 4.09 KiB, 8.73 bits per weight

Model
  family             llama
  name               Tiny
  license            unknown
  parameters         3,232
  size               4,192 bytes in 1 file, GGUF version 3
  quantisation       Q8_0
  context length     4,096
  layers             2
  hidden size        32
  feed-forward size  1,000
  attention heads    4
  experts            none

Tokenizer
  kind               llama
  pre-tokenizer      unknown
  vocabulary size    2
  bos token          0 = <s>

Chat template
  23 bytes; it begins:
    one
    two
    three
    four

Tensors by type
  type       tensors          parameters                 bytes  bits each
  Q8_0             1               3,200                 3,400       8.50
  F32              1                  32                   128      32.00
  all              2               3,232                 3,528       8.73

Tensors (innermost dimension first)
  output.weight  Q8_0      [32, 100]                            3,400
  norm           F32       [32]                                   128
)");
}

TEST(InspectText, IsHonestAboutAFileThatSaysNothing) {
  const std::string text = Model(gguf::Header()).text();
  EXPECT_THAT(text, HasSubstr("tiny.gguf: unknown, 0 parameters, 32 bytes, 0.00 bits per weight"));
  EXPECT_THAT(text, HasSubstr("  layers             unknown\n"));
  EXPECT_THAT(text, HasSubstr("  experts            unknown\n"));
  EXPECT_THAT(text, HasSubstr("Chat template\n  none\n"));
  EXPECT_THAT(text, Not(HasSubstr("Tensors (innermost")));
}

TEST(InspectText, TextsOfTheFileCannotMoveTheCursor) {
  gguf::Header header;
  header.set("general.name", "red \x1b[31m\xff end\nsecond line");
  const std::string text = Model(header).text();
  EXPECT_THAT(text, HasSubstr("red \\x1b[31m\\xff end\\nsecond line\n"));
}

TEST(InspectText, LongTextsAreCutToTheWidthBetweenCharacters) {
  gguf::Header header;
  std::string name;
  for (int i = 0; i < 300; ++i) name += "é";
  header.set("general.name", name);
  const Model model(header);
  const std::string narrow = model.text({.width = 30});
  EXPECT_THAT(narrow, HasSubstr("  name               éééééééé…\n"));
  const std::string wide = model.text();  // not cut to a width, but not without end
  EXPECT_THAT(wide, HasSubstr(name.substr(0, 400) + "...\n"));
}

TEST(InspectJson, HoldsAllThatTheFileSays) {
  const nlohmann::json json = Model(tiny()).json();
  EXPECT_EQ(json["file"], "models/tiny.gguf");
  EXPECT_EQ(json["version"], 3);
  EXPECT_EQ(json["summary"]["family"], "llama");
  EXPECT_EQ(json["summary"]["num_layers"], 2);
  EXPECT_EQ(json["summary"]["special_tokens"][0]["text"], "<s>");
  EXPECT_FALSE(json["summary"].contains("head_dim"));
  EXPECT_EQ(json["metadata"]["llama.context_length"], 4096);
  EXPECT_EQ(json["metadata"]["tokenizer.ggml.tokens"], nlohmann::json({"<s>", "</s>"}));
  ASSERT_EQ(json["tensors"].size(), 2U);
  EXPECT_EQ(json["tensors"][0]["name"], "output.weight");
  EXPECT_EQ(json["tensors"][0]["shape"], nlohmann::json({32, 100}));
  EXPECT_EQ(json["tensors"][1]["type"], "F32");
  EXPECT_EQ(json["tensors"][1]["size_bytes"], 128);
}

TEST(InspectJson, TakesAwkwardValues) {
  gguf::Header header;
  header.set("text", "\xff");
  header.set("nan", std::numeric_limits<float>::quiet_NaN());
  header.set("most", std::numeric_limits<uint64_t>::max());
  header.set("least", std::numeric_limits<int64_t>::min());
  header.set_array("flags", std::vector<uint8_t>{});
  std::vector<gguf::Array> rows(2, gguf::Array(std::vector<std::string_view>{"a"}));
  header.set("nested", gguf::Value(gguf::ValueType::array, gguf::Array(std::move(rows))));
  const nlohmann::json metadata = Model(header).json()["metadata"];
  EXPECT_EQ(metadata["text"], "\xef\xbf\xbd");
  EXPECT_TRUE(metadata["nan"].is_null());
  EXPECT_EQ(metadata["most"], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(metadata["least"], std::numeric_limits<int64_t>::min());
  EXPECT_EQ(metadata["flags"], nlohmann::json::array());
  EXPECT_EQ(metadata["nested"], nlohmann::json::parse(R"([["a"],["a"]])"));
}

}  // namespace
}  // namespace evener::cli
