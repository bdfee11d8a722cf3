// What a file can get wrong about its model, found before any memory is taken for weights.
// Method: one field of a good file is overwritten in place.
#include "model/loader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <ostream>
#include <span>
#include <string>

#include "model/families.h"

namespace evener::model {
namespace {

std::string bytes_of(const std::string& model) {
  std::ifstream file(std::filesystem::path(EVENER_TEST_DATA) / "models" / (model + ".gguf"),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Overwrites the value that follows `key` and its type.
template <class T>
void set(std::string& bytes, const std::string& key, T value) {
  const size_t at = bytes.find(key);
  ASSERT_NE(at, std::string::npos) << key;
  std::memcpy(bytes.data() + at + key.size() + sizeof(uint32_t), &value, sizeof value);
}

void rename(std::string& bytes, const std::string& from, const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  const size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  bytes.replace(at, from.size(), to);
}

// The whole message that the file gets, or "" if it is accepted.
std::string complaint(const std::string& bytes) {
  const auto file = gguf::File::parse(std::as_bytes(std::span(bytes)), "m.gguf");
  if (!file) return "gguf: " + to_string(file.error());
  const auto model = describe_model(*file);
  return model ? "" : to_string(model.error());
}

TEST(Loader, AcceptsTheGoldenModels) {
  for (const char* name :
       {"llama", "llama-bias", "llama-moe", "qwen3", "qwen3moe", "qwen35", "qwen35-equal-heads",
        "qwen35moe", "qwen35moe-fused", "qwen3next", "qwen3next-ssm-in", "llama256-Q4_K"}) {
    EXPECT_EQ(complaint(bytes_of(name)), "") << name;
  }
}

TEST(Loader, NamesTheFamiliesItKnows) {
  std::string bytes = bytes_of("qwen3");
  rename(bytes, "qwen3", "gemma");
  EXPECT_EQ(complaint(bytes),
            "cannot load model: m.gguf: its architecture 'gemma' is not one that Evener can run\n"
            "  supported are " +
                family_names());
}

TEST(Loader, ListsMissingAndUnknownTensorsTogether) {
  std::string bytes = bytes_of("qwen3");
  rename(bytes, "blk.0.attn_k.weight", "blk.0.attn_X.weight");
  EXPECT_EQ(complaint(bytes),
            "cannot load model: m.gguf: tensors do not fit: 'blk.0.attn_k.weight' is missing; "
            "'blk.0.attn_X.weight' is unknown in qwen3 models");
}

TEST(Loader, ComparesShapesWithTheMetadata) {
  std::string bytes = bytes_of("qwen3");
  set<uint32_t>(bytes, "qwen3.feed_forward_length", 64);
  const std::string text = complaint(bytes);
  EXPECT_NE(text.find("'blk.0.ffn_gate.weight' has shape ["), std::string::npos) << text;
  EXPECT_NE(text.find(", the metadata ask for ["), std::string::npos) << text;
}

struct Wrong {
  const char* model;
  const char* key;
  uint32_t value;
  const char* why;  // part of the message
};

void PrintTo(const Wrong& wrong, std::ostream* stream) {
  *stream << wrong.model << ' ' << wrong.key << " = " << wrong.value;
}

class WrongSize : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSize, IsNamed) {
  std::string bytes = bytes_of(GetParam().model);
  set<uint32_t>(bytes, GetParam().key, GetParam().value);
  const std::string text = complaint(bytes);
  EXPECT_NE(text.find("m.gguf"), std::string::npos) << text;
  EXPECT_NE(text.find(GetParam().key), std::string::npos) << text;
  EXPECT_NE(text.find(GetParam().why), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WrongSize,
    testing::Values(Wrong{"qwen3", "qwen3.block_count", 0, "is 0"},
                    Wrong{"qwen3", "qwen3.block_count", 0xffffffff, "4294967295"},
                    Wrong{"qwen3", "qwen3.embedding_length", 0, "is 0"},
                    Wrong{"qwen3", "qwen3.attention.head_count", 0, "is 0"},
                    Wrong{"qwen3", "qwen3.attention.head_count_kv", 3, "do not share"},
                    Wrong{"qwen3", "qwen3.attention.value_length", 4, "differs from key_length"},
                    Wrong{"qwen35", "qwen35.rope.dimension_count", 3, "must be even"},
                    Wrong{"qwen35", "qwen35.rope.dimension_count", 4096, "at most the head size"},
                    Wrong{"qwen35", "qwen35.ssm.group_count", 3, "do not share"},
                    Wrong{"qwen35", "qwen35.ssm.conv_kernel", 1, "not in 2..8"},
                    Wrong{"qwen35", "qwen35.ssm.inner_size", 1, "is not time_step_rank"},
                    Wrong{"qwen35", "qwen35.ssm.group_count", 100'000, "100000"},
                    Wrong{"qwen3moe", "qwen3moe.expert_count", 0, "is 0"},
                    Wrong{"qwen3moe", "qwen3moe.expert_count", 1'000'000, "1000000"},
                    Wrong{"qwen3moe", "qwen3moe.expert_used_count", 0, "is 0 of 6 experts"},
                    Wrong{"qwen3moe", "qwen3moe.expert_used_count", 7, "is 7 of 6 experts"},
                    Wrong{"qwen3moe", "qwen3moe.expert_feed_forward_length", 6, "multiple of 4"},
                    Wrong{"qwen3next", "qwen3next.expert_shared_feed_forward_length", 3,
                          "multiple of 4"}));

// What the experts of the golden model add up to: as many matrices as it has experts.
TEST(Loader, CountsEveryExpertOnce) {
  for (const char* name : {"qwen35moe", "qwen35moe-fused", "qwen3next", "qwen3next-ssm-in"}) {
    const std::string bytes = bytes_of(name);
    const auto file = gguf::File::parse(std::as_bytes(std::span(bytes)), "m.gguf");
    ASSERT_TRUE(file.has_value());
    auto model = describe_model(*file);
    ASSERT_TRUE(model.has_value()) << to_string(model.error());
    size_t in_file = 0;  // of the trunk, but for the embedding, which is only looked up
    const std::string mtp_layer = "blk." + std::to_string((*model)->config().num_layers) + ".";
    for (const gguf::Tensor& tensor : file->tensors()) {
      const bool counts = tensor.name != "token_embd.weight" && !tensor.name.starts_with(mtp_layer);
      in_file += counts ? tensor.bytes.size() : 0;
    }
    EXPECT_EQ(weight_bytes(*file, **model), in_file) << name;
  }
}

// Gate and up of all experts in one tensor: each half is copied out of it for the time of packing.
TEST(Loader, CountsTheCopyOfAHalfThatIsPacked) {
  const auto bytes_while_loading = [](const char* name) {
    const std::string bytes = bytes_of(name);
    const auto file = gguf::File::parse(std::as_bytes(std::span(bytes)), "m.gguf");
    EXPECT_TRUE(file.has_value());
    const gguf::Tensor* joint = file->find_tensor("blk.0.ffn_gate_up_exps.weight");
    const size_t half = joint == nullptr ? 0 : joint->bytes.size() / 2;
    EXPECT_EQ(loading_bytes(*file, **describe_model(*file)), half) << name;
    return half;
  };
  EXPECT_EQ(bytes_while_loading("qwen35moe"), 0U);
  EXPECT_GT(bytes_while_loading("qwen35moe-fused"), 0U);
}

TEST(Loader, KeepsLayersThatDraftTokensOutOfTheTrunk) {
  const std::string bytes = bytes_of("qwen3next");
  const auto file = gguf::File::parse(std::as_bytes(std::span(bytes)), "m.gguf");
  const auto config = read_config(*file);
  ASSERT_TRUE(config.has_value()) << to_string(config.error());
  EXPECT_EQ(config->num_layers, 3u);
  EXPECT_EQ(config->num_mtp_layers, 1u);
  EXPECT_EQ(config->mixture.num_experts, 6u);
  EXPECT_EQ(config->mixture.num_experts_per_token, 3u);
  EXPECT_EQ(config->mixture.intermediate_size, 16u);
  EXPECT_EQ(config->mixture.shared_size, 48u);
}

TEST(Loader, ComparesJointTensorsAsAWhole) {
  std::string bytes = bytes_of("qwen35moe-fused");
  set<uint32_t>(bytes, "qwen35moe.expert_feed_forward_length", 64);
  const std::string text = complaint(bytes);
  EXPECT_NE(text.find("'blk.0.ffn_gate_up_exps.weight' has shape [64, 64, 6], the metadata ask for "
                      "[64, 128, 6]"),
            std::string::npos)
      << text;
}

TEST(Loader, RefusesNormsThatCannotBe) {
  for (const float epsilon : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity()}) {
    std::string bytes = bytes_of("qwen3");
    set<float>(bytes, "qwen3.attention.layer_norm_rms_epsilon", epsilon);
    EXPECT_NE(complaint(bytes), "") << epsilon;
  }
}

// Every single corrupted byte of the header gives a model or a message, never a crash.
TEST(Loader, SurvivesAnyOneWrongByteOfTheHeader) {
  const std::string good = bytes_of("qwen35");
  std::string bytes = good;
  size_t num_refused = 0;
  for (size_t i = 0; i < 4096; ++i) {
    bytes[i] = static_cast<char>(~good[i]);
    num_refused += complaint(bytes).empty() ? 0 : 1;
    bytes[i] = good[i];
  }
  EXPECT_GT(num_refused, 0u);
}

TEST(RopeFrequencies, YarnKeepsFastPairsAndSlowsSlowOnes) {
  RopeConfig config{.dim = 64,
                    .base = 10000,
                    .scaling = RopeConfig::Scaling::yarn,
                    .factor = 4,
                    .original_context = 4096,
                    .divisors = {}};
  const RopeFrequencies yarn = rope_frequencies(config);
  config.scaling = RopeConfig::Scaling::none;
  const RopeFrequencies plain = rope_frequencies(config);
  EXPECT_DOUBLE_EQ(yarn.inverse_frequency.front(), plain.inverse_frequency.front());
  EXPECT_DOUBLE_EQ(yarn.inverse_frequency.back(), plain.inverse_frequency.back() / 4);
  EXPECT_NEAR(yarn.magnitude, 1 + 0.1 * std::log(4.0), 1e-6);
  EXPECT_EQ(plain.magnitude, 1);
}

}  // namespace
}  // namespace evener::model
