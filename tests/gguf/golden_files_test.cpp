// Real files, made by other programs: all of them open and show what their makers wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "gguf/file.h"

namespace evener::gguf {
namespace {

std::vector<std::filesystem::path> gguf_files(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path root = std::filesystem::path(EVENER_SHARED) / folder;
  if (!std::filesystem::exists(root)) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == ".gguf") paths.push_back(entry.path());
  }
  return paths;
}

class GoldenFiles : public testing::TestWithParam<const char*> {};

TEST_P(GoldenFiles, AllOpenAndTheirTensorsFillThem) {
  const auto paths = gguf_files(GetParam());
  if (paths.empty()) GTEST_SKIP() << GetParam() << " is not on this machine";
  for (const auto& path : paths) {
    SCOPED_TRACE(path.string());
    const auto file = File::open(path);
    ASSERT_TRUE(file) << to_string(file.error());
    EXPECT_EQ(file->version(), 3U);
    EXPECT_EQ(file->alignment(), 32U);
    EXPECT_GT(file->tensors().size(), 10U);
    EXPECT_TRUE(file->get_string("general.architecture"));
    uint64_t tensor_bytes = 0;
    for (const Tensor& tensor : file->tensors()) {
      tensor_bytes += (tensor.bytes.size() + 31) / 32 * 32;
      EXPECT_EQ(file->find_tensor(tensor.name), &tensor);
    }
    const uint64_t data_start = file->tensors().front().file_offset;
    EXPECT_EQ(data_start + tensor_bytes, file->size_bytes());
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, GoldenFiles,
                         testing::Values("golden/models", "golden/quantised", "golden/drafts",
                                         "golden/qwen4exp", "models"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

TEST(GoldenFiles, TheBundledModelSaysWhatItsMakerSaid) {
  const std::filesystem::path path =
      std::filesystem::path(EVENER_SHARED) / "models" / "tiny35moe-q8_0.gguf";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not on this machine";
  const auto file = File::open(path);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->get_string("general.architecture").value(), "qwen35moe");
  EXPECT_EQ(file->get_uint("qwen35moe.expert_count").value(), 32U);
  EXPECT_FLOAT_EQ(file->get_float("qwen35moe.rope.freq_base").value(), 1e7F);
  EXPECT_THAT(file->get_uints("qwen35moe.rope.dimension_sections").value(),
              testing::ElementsAre(3, 3, 2, 0));
  EXPECT_EQ(file->get_strings("tokenizer.ggml.tokens").value().size(), 2080U);
  EXPECT_FALSE(file->get_bool("tokenizer.ggml.add_bos_token").value());
  const auto output = file->get_tensor("output.weight");
  ASSERT_TRUE(output);
  EXPECT_EQ((*output)->dtype, DType::Q8_0);
  EXPECT_THAT((*output)->shape, testing::ElementsAre(256, 2080));
}

}  // namespace
}  // namespace evener::gguf
