// What a summary says of a file that says everything, and of one that says nothing.
#include "gguf/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gguf/header.h"

namespace evener::gguf {
namespace {

std::vector<std::byte> with_data(const Header& header) {
  std::vector<std::byte> bytes = header.encode();
  for (size_t i = 0; i < header.num_tensors(); ++i) {
    bytes.resize(bytes.size() + (header.tensor_bytes(i) + 31) / 32 * 32);
  }
  return bytes;
}

TEST(Summary, SaysWhatTheFileSays) {
  Header header;
  header.set("general.architecture", "qwen35moe");
  header.set("general.name", "Tiny");
  header.set("general.file_type", uint32_t{15});
  header.set("qwen35moe.context_length", uint32_t{2048});
  header.set("qwen35moe.block_count", uint32_t{5});
  header.set("qwen35moe.nextn_predict_layers", uint32_t{1});
  header.set("qwen35moe.embedding_length", uint32_t{64});
  header.set_array("qwen35moe.feed_forward_length", std::vector<uint32_t>{96, 64, 128});
  header.set("qwen35moe.attention.head_count", uint32_t{4});
  header.set("qwen35moe.attention.head_count_kv", uint32_t{2});
  header.set("qwen35moe.expert_count", uint32_t{32});
  header.set("qwen35moe.expert_used_count", uint32_t{4});
  header.set("qwen35moe.vocab_size", uint32_t{9});
  header.set("tokenizer.ggml.model", "gpt2");
  header.set_array("tokenizer.ggml.tokens", std::vector<std::string_view>{"a", "b", "</s>"});
  header.set("tokenizer.ggml.eos_token_id", uint32_t{2});
  header.set("tokenizer.ggml.fim_pre_token_id", uint32_t{77});
  header.set("tokenizer.chat_template", "{{ x }}");
  header.set("tokenizer.chat_template.tool_use", "{{ y }}");
  const uint64_t matrix[] = {64, 3};
  const uint64_t vector[] = {64};
  header.add_tensor("norm", DType::F32, vector);
  header.add_tensor("a", DType::Q8_0, matrix);
  header.add_tensor("b", DType::Q8_0, matrix);
  const auto bytes = with_data(header);
  const auto file = File::parse(bytes, "x");
  ASSERT_TRUE(file) << to_string(file.error());
  const Summary summary = summarise(*file);

  EXPECT_EQ(summary.family, "qwen35moe");
  EXPECT_EQ(summary.name, "Tiny");
  EXPECT_EQ(summary.license, std::nullopt);
  EXPECT_EQ(summary.file_type, "Q4_K_M");
  EXPECT_EQ(summary.context_length, 2048U);
  EXPECT_EQ(summary.num_layers, 5U);
  EXPECT_EQ(summary.num_mtp_layers, 1U);
  EXPECT_EQ(summary.hidden_size, 64U);
  ASSERT_TRUE(summary.intermediate_size);
  EXPECT_EQ(summary.intermediate_size->min, 64U);
  EXPECT_EQ(summary.intermediate_size->max, 128U);
  ASSERT_TRUE(summary.num_kv_heads);
  EXPECT_EQ(summary.num_kv_heads->max, 2U);
  EXPECT_EQ(summary.head_dim, std::nullopt);
  EXPECT_EQ(summary.num_experts, 32U);
  EXPECT_EQ(summary.num_experts_per_token, 4U);
  EXPECT_EQ(summary.vocab_size, 3U);  // the tokens that are there, not the number that is said
  ASSERT_EQ(summary.special_tokens.size(), 2U);
  EXPECT_EQ(summary.special_tokens[0].role, "eos");
  EXPECT_EQ(summary.special_tokens[0].text, "</s>");
  EXPECT_EQ(summary.special_tokens[1].role, "fim_pre");
  EXPECT_EQ(summary.special_tokens[1].id, 77U);
  EXPECT_EQ(summary.special_tokens[1].text, "");
  EXPECT_EQ(summary.chat_template, "{{ x }}");
  EXPECT_THAT(summary.named_chat_templates, testing::ElementsAre("tool_use"));

  EXPECT_EQ(summary.num_parameters, 64U + 2 * 192);
  EXPECT_EQ(summary.tensor_bytes, 256U + 2 * 204);
  ASSERT_EQ(summary.types.size(), 2U);
  EXPECT_EQ(summary.types[0].dtype, DType::Q8_0);  // most bytes first
  EXPECT_EQ(summary.types[0].num_tensors, 2U);
  EXPECT_EQ(summary.types[0].bits_per_weight(), 8.5);
  EXPECT_EQ(summary.types[1].bits_per_weight(), 32);
}

TEST(Summary, OfAFileThatSaysNothingClaimsNothing) {
  const auto bytes = Header().encode();
  const auto file = File::parse(bytes, "x");
  ASSERT_TRUE(file) << to_string(file.error());
  const Summary summary = summarise(*file);
  EXPECT_EQ(summary.family, std::nullopt);
  EXPECT_EQ(summary.file_type, std::nullopt);
  EXPECT_EQ(summary.num_layers, std::nullopt);
  EXPECT_EQ(summary.vocab_size, std::nullopt);
  EXPECT_EQ(summary.num_parameters, 0U);
  EXPECT_EQ(summary.bits_per_weight(), 0);
  EXPECT_TRUE(summary.types.empty());
}

TEST(Summary, TakesAValueOfAWrongKindForUnknown) {
  Header header;
  header.set("general.architecture", "llama");
  header.set("general.name", uint32_t{5});
  header.set("general.file_type", uint32_t{999});
  header.set("llama.block_count", "many");
  header.set("llama.attention.head_count", -1);
  header.set_array("llama.feed_forward_length", std::vector<float>{1});
  header.set("tokenizer.ggml.bos_token_id", "first");
  const auto bytes = header.encode();
  const auto file = File::parse(bytes, "x");
  ASSERT_TRUE(file) << to_string(file.error());
  const Summary summary = summarise(*file);
  EXPECT_EQ(summary.name, std::nullopt);
  EXPECT_EQ(summary.file_type, "number 999");
  EXPECT_EQ(summary.num_layers, std::nullopt);
  EXPECT_FALSE(summary.num_heads);
  EXPECT_FALSE(summary.intermediate_size);
  EXPECT_TRUE(summary.special_tokens.empty());
}

}  // namespace
}  // namespace evener::gguf
