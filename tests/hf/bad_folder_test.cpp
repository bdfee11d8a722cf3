// What a folder can get wrong is said before memory is taken for weights, with tensor or field and
// file. Method: golden folders with one thing changed. What concerns headers, shards and the parts
// of coded matrices alone is tested in tests/safetensors.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "hf/golden_folder.h"
#include "hf/open_folder.h"
#include "tensor/float16.h"

namespace evener::hf {
namespace {

using nlohmann::json;
using test::Edits;
using test::GoldenFolder;

// The message with the folder's path as DIR, or "" if it opens.
std::string complaint(const GoldenFolder& golden) {
  const auto folder = open_folder(golden.path());
  if (folder) return "";
  std::string text = to_string(folder.error());
  const std::string path = golden.path().string();
  for (size_t at = text.find(path); at != std::string::npos; at = text.find(path)) {
    text.replace(at, path.size(), "DIR");
  }
  return text;
}

std::string complaint_of_tensors(const std::string& model, Edits edits) {
  return complaint(GoldenFolder(model, std::move(edits)));
}

// `change` gets the fields of the language model.
std::string complaint_of_config(const std::string& model,
                                const std::function<void(json&)>& change) {
  const GoldenFolder golden(model);
  json config = golden.config();
  change(config.contains("text_config") ? config["text_config"] : config);
  golden.writer.write_file("config.json", config.dump());
  return complaint(golden);
}

TEST(BadFolder, IsAFolderWithoutConfig) {
  const GoldenFolder golden("qwen3");
  std::filesystem::remove(golden.path() / "config.json");
  EXPECT_EQ(complaint(golden),
            "cannot load model: DIR: has no config.json\n"
            "  name a GGUF file or the folder of a Hugging Face model");
}

TEST(BadFolder, NamesAFamilyThatIsNotKnown) {
  const std::string text =
      complaint_of_config("qwen3", [](json& model) { model["model_type"] = "gemma3"; });
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "cannot load model: DIR/config.json, field 'model_type': is 'gemma3', which Evener "
            "cannot run");
  EXPECT_NE(text.find("it knows llama, mistral, mixtral, qwen3, "), std::string::npos) << text;
}

struct BadField {
  const char* model;
  const char* field;
  json value;  // null: left out
  const char* why;
};

void PrintTo(const BadField& bad, std::ostream* stream) {
  *stream << bad.model << ' ' << bad.field << " = " << bad.value;
}

class BadFields : public testing::TestWithParam<BadField> {};

TEST_P(BadFields, AreNamed) {
  const BadField& bad = GetParam();
  const std::string text =
      complaint_of_config(bad.model, [&](json& model) { model[bad.field] = bad.value; });
  EXPECT_NE(text.find("DIR/config.json, field '"), std::string::npos) << text;
  EXPECT_NE(text.find(bad.field), std::string::npos) << text;
  EXPECT_NE(text.find(bad.why), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadFields,
    testing::Values(
        BadField{"qwen3", "hidden_size", nullptr, "is missing"},
        BadField{"qwen3", "hidden_size", 0, "is 0"},
        BadField{"qwen3", "hidden_size", uint64_t{1} << 60, "at most 1048576"},
        BadField{"qwen3", "num_hidden_layers", 1'000'000, "at most 4096"},
        BadField{"qwen3", "num_attention_heads", "four", "is a text"},
        BadField{"qwen3", "num_key_value_heads", 3, "do not share"},
        BadField{"qwen3", "rms_norm_eps", nullptr, "is missing"},
        BadField{"qwen3", "rope_theta", 0.5, "is not above 1"},
        BadField{"qwen3", "partial_rotary_factor", 1.5, "is not in 0..1"},
        BadField{"qwen3", "hidden_act", "gelu", "only silu"},
        BadField{"qwen3", "rope_scaling", {{"rope_type", "longrope"}}, "is 'longrope'"},
        BadField{"qwen3", "rope_scaling", {{"rope_type", "linear"}, {"factor", 0}}, "not above 0"},
        BadField{"qwen3moe", "num_experts", 5000, "at most 4096"},
        BadField{"qwen3moe", "norm_topk_prob", false, "is false"},
        BadField{"qwen3moe", "decoder_sparse_step", 2, "only 1 is supported"},
        BadField{"qwen3moe", "mlp_only_layers", {0}, "without experts"},
        BadField{"qwen35", "linear_num_value_heads", 3, "do not share"},
        BadField{"qwen35", "linear_value_head_dim", 8, "only equal ones"},
        BadField{"qwen35", "layer_types", {"full_attention"}, "has 1 entries"}));

TEST(BadFolder, ComparesTheVocabularyWithTheEmbedding) {
  EXPECT_EQ(complaint_of_config("qwen3", [](json& model) { model["vocab_size"] = 321; }),
            "cannot load model: DIR/model.safetensors, tensor 'model.embed_tokens.weight': has 320 "
            "rows, config.json's vocab_size is 321");
}

TEST(BadFolder, ListsTensorsThatTheModelDoesNotHave) {
  const std::string text =
      complaint_of_config("qwen3moe", [](json& model) { model["num_experts"] = 4; });
  EXPECT_NE(text.find("DIR: has tensors that qwen3moe models of "), std::string::npos) << text;
  EXPECT_NE(text.find("'model.layers.0.mlp.experts.4.down_proj.weight', "), std::string::npos)
      << text;
  EXPECT_NE(text.find(" more"), std::string::npos) << text;
}

TEST(BadFolder, MissesAnExpert) {
  const std::string name = "model.layers.0.mlp.experts.2.up_proj.weight";
  EXPECT_EQ(complaint_of_tensors("qwen3moe", {.left_out = {name}}),
            "cannot load model: DIR, tensor '" + name + "': is missing, config.json has 6 experts");
}

TEST(BadFolder, MissesTheHeadThatItIsSaidToHave) {
  EXPECT_EQ(complaint_of_tensors("llama", {.left_out = {"lm_head.weight"}}),
            "cannot load model: DIR, tensor 'lm_head.weight': is missing, and config.json says "
            "that the head is not the embedding");
}

TEST(BadFolder, HasWholeNumbersWhereFloatsBelong) {
  EXPECT_EQ(complaint_of_tensors("qwen3", {.types = {{"model.norm.weight", "I32"}}}),
            "cannot load model: DIR/model.safetensors, tensor 'model.norm.weight': has type I32, "
            "its role asks for F32, F16 or BF16");
}

TEST(BadFolder, HasRowsThatHeadsDoNotShare) {
  const std::string name = "model.layers.1.self_attn.q_proj.weight";
  EXPECT_EQ(complaint_of_tensors("llama", {.shapes = {{name, {32, 128}}}}),
            "cannot load model: DIR/model.safetensors, tensor '" + name +
                "': has 32 rows, config.json asks for 4 heads of 16");
}

TEST(BadFolder, HasExpertsOfDifferentShapes) {
  const GoldenFolder good("qwen3moe");
  const std::string name = "model.layers.0.mlp.experts.1.up_proj.weight";
  const gguf::Tensor* const up = good.file().find_tensor("blk.0.ffn_up_exps.weight");
  const std::vector<uint64_t> turned = {up->shape[0], up->shape[1]};
  const std::string text = complaint_of_tensors("qwen3moe", {.shapes = {{name, turned}}});
  EXPECT_NE(text.find("tensor '" + name + "': has shape ["), std::string::npos) << text;
  EXPECT_NE(text.find("that of expert 0 has ["), std::string::npos) << text;
}

// One matrix of qwen3 as FP8 codes, and its scales.
class Fp8Folder {
 public:
  static constexpr const char* kName = "model.layers.0.mlp.down_proj.weight";

  explicit Fp8Folder(std::vector<float> scales, uint8_t code = 0x38)
      : golden_("qwen3", {.left_out = {kName}}) {
    const gguf::Tensor* const down = golden_.file().find_tensor("blk.0.ffn_down.weight");
    golden_.writer.add<uint8_t>(kName, "F8_E4M3", {down->shape[1], down->shape[0]},
                                std::vector<uint8_t>(down->num_elements(), code));
    golden_.writer.add<float>(std::string(kName) + "_scale_inv", "F32", {scales.size()}, scales);
    golden_.writer.write();
    json config = golden_.config();
    config["quantization_config"] = {{"quant_method", "fp8"}};
    golden_.writer.write_file("config.json", config.dump());
  }

  const GoldenFolder& golden() const { return golden_; }

 private:
  GoldenFolder golden_;
};

// 0x38 is 1: the scale itself is the weight.
TEST(CodedFolder, IsDecodedToHalves) {
  const Fp8Folder coded({0.3F});
  const auto folder = open_folder(coded.golden().path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  const gguf::Tensor* const tensor = folder->find_tensor("blk.0.ffn_down.weight");
  EXPECT_EQ(tensor->dtype, DType::F16);
  EXPECT_EQ(tensor->stored_as, "FP8");
  EXPECT_EQ(tensor->stored_bytes, tensor->num_elements() + 4);
  std::vector<std::byte> room;
  const auto bytes = folder->read(*tensor, room);
  ASSERT_TRUE(bytes.has_value()) << to_string(bytes.error());
  std::vector<float> values(tensor->num_elements());
  quant::find_format(DType::F16)->decode(*bytes, values.data());
  for (const float value : values) ASSERT_EQ(value, f16_to_f32(f32_to_f16(0.3F)));
}

TEST(CodedFolder, HasScalesThatAreNoNumbers) {
  EXPECT_EQ(complaint(Fp8Folder({NAN}).golden()),
            "cannot load model: DIR/model.safetensors, tensor "
            "'model.layers.0.mlp.down_proj.weight_scale_inv': scale 0 is not a finite number\n"
            "  the file is damaged: fetch it again");
}

TEST(CodedFolder, HasScalesOfAnotherShape) {
  const std::string text = complaint(Fp8Folder({1, 1, 1}).golden());
  EXPECT_NE(text.find("_scale_inv': has shape [3]"), std::string::npos) << text;
}

// Values are looked at when they are made: a code that is no number, a product beyond F16.
TEST(CodedFolder, HasValuesThatCannotBe) {
  for (const auto& [scale, code] : {std::pair(1.0F, 0x7f), std::pair(1e6F, 0x38)}) {
    const Fp8Folder coded({scale}, static_cast<uint8_t>(code));
    const auto folder = open_folder(coded.golden().path());
    ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
    std::vector<std::byte> room;
    const auto bytes = folder->read(*folder->find_tensor("blk.0.ffn_down.weight"), room);
    ASSERT_FALSE(bytes.has_value());
    EXPECT_EQ(to_string(bytes.error()),
              "cannot load model: " + (coded.golden().path() / "model.safetensors").string() +
                  ", tensor '" + Fp8Folder::kName +
                  "': decodes to a value that is no number or beyond F16's range");
  }
}

}  // namespace
}  // namespace evener::hf
