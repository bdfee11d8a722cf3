// A folder must be seen as the GGUF file that it would make. Method: golden GGUF files are written
// as folders by rules of the test's own, opened, and compared tensor by tensor and key by key.
#include "hf/open_folder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hf/golden_folder.h"

namespace evener::hf {
namespace {

std::vector<float> values_of(const gguf::File& file, const gguf::Tensor& tensor) {
  std::vector<std::byte> room;
  const auto bytes = file.read(tensor, room);
  EXPECT_TRUE(bytes.has_value()) << to_string(bytes.error());
  std::vector<float> values(tensor.num_elements());
  quant::find_format(tensor.dtype)->decode(*bytes, values.data());
  return values;
}

// A detour over logarithms or over w - 1 may cost the last bits.
bool takes_a_detour(const gguf::File& file, const std::string& name) {
  if (name.ends_with("ssm_a")) return true;
  const bool is_folded = (*file.get_string("general.architecture")).find("3") != std::string::npos;
  return is_folded && name.find("norm") != std::string::npos;
}

void expect_equal(const gguf::File& folder, const gguf::File& file, const gguf::Tensor& want) {
  const gguf::Tensor* got = folder.find_tensor(want.name);
  ASSERT_NE(got, nullptr) << want.name;
  EXPECT_EQ(got->shape, want.shape) << want.name;
  EXPECT_EQ(got->dtype, want.dtype) << want.name;
  const auto a = values_of(folder, *got);
  const auto b = values_of(file, want);
  ASSERT_EQ(a.size(), b.size()) << want.name;
  if (!takes_a_detour(file, want.name)) {
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << want.name;
    return;
  }
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-6 * (1 + std::abs(b[i])));
}

void expect_same_metadata(const gguf::File& folder, const gguf::File& file) {
  size_t num_compared = 0;
  for (const auto& [key, value] : folder.metadata()) {
    const gguf::Value* want = file.find(key);
    if (want == nullptr || key == "general.name") continue;
    ++num_compared;
    if (value.as_array() != nullptr) {
      const bool has_flags = value.as_array()->element_type() == gguf::ValueType::boolean;
      const bool same = has_flags ? *folder.get_bools(key) == *file.get_bools(key)
                                  : *folder.get_ints(key) == *file.get_ints(key);
      EXPECT_TRUE(same) << key;
      continue;
    }
    EXPECT_EQ(value.as_uint(), want->as_uint()) << key;
    EXPECT_EQ(value.as_string(), want->as_string()) << key;
    EXPECT_EQ(value.as_float(), want->as_float()) << key;
  }
  EXPECT_GE(num_compared, 12u);
}

class GoldenFolders : public testing::TestWithParam<std::string> {};

TEST_P(GoldenFolders, AreTheFilesTheyWouldMake) {
  const test::GoldenFolder golden(GetParam());
  const auto folder = open_folder(golden.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  for (const gguf::Tensor& want : golden.file().tensors()) {
    expect_equal(*folder, golden.file(), want);
  }
  EXPECT_EQ(folder->tensors().size(), golden.file().tensors().size());
  expect_same_metadata(*folder, golden.file());
}

INSTANTIATE_TEST_SUITE_P(All, GoldenFolders,
                         testing::Values("llama", "llama-bias", "llama-moe", "qwen3", "qwen3moe",
                                         "qwen3next-ssm-in", "qwen35", "qwen35-equal-heads",
                                         "qwen35moe", "qwen35moe-fused"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(OpenFolder, LeavesPlainMatricesWhereTheyLie) {
  const test::GoldenFolder golden("qwen3");
  const auto folder = open_folder(golden.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  const gguf::Tensor* const tensor = folder->find_tensor("blk.0.attn_q.weight");
  EXPECT_FALSE(tensor->bytes.empty());
  EXPECT_TRUE(tensor->stored_as.empty());
}

TEST(OpenFolder, TakesTheFoldersOwnNameWithAndWithoutASlash) {
  const test::GoldenFolder golden("qwen3");
  for (const std::string tail : {"", "/"}) {
    const auto folder = open_folder(golden.path().string() + tail);
    ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
    EXPECT_EQ(*folder->get_string("general.name"), golden.path().filename().string());
  }
}

// llama3's scaling: slow pairs are divided by the factor, fast ones not.
TEST(OpenFolder, MakesTheDivisorsOfLlama3) {
  const test::GoldenFolder golden("llama");
  nlohmann::json config = golden.config();
  config["rope_scaling"] = {{"rope_type", "llama3"},
                            {"factor", 8.0},
                            {"low_freq_factor", 1.0},
                            {"high_freq_factor", 4.0},
                            {"original_max_position_embeddings", 256}};
  golden.writer.write_file("config.json", config.dump());
  const auto folder = open_folder(golden.path());
  ASSERT_TRUE(folder.has_value()) << to_string(folder.error());
  const gguf::Tensor* const tensor = folder->find_tensor("rope_freqs.weight");
  ASSERT_NE(tensor, nullptr);
  const auto divisors = values_of(*folder, *tensor);
  ASSERT_EQ(divisors.size(), 8u);
  EXPECT_EQ(divisors.front(), 1);
  EXPECT_EQ(divisors.back(), 8);
  // Pair 2 turns 256 * 10000^(-1/4) / (2 pi) = 4.07 times, pair 3 1.288 times: 0.096 of the way.
  EXPECT_EQ(divisors[2], 1);
  EXPECT_NEAR(divisors[3], 1 / (0.904 / 8 + 0.096), 0.01);
}

}  // namespace
}  // namespace evener::hf
