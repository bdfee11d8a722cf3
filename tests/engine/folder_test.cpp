// Hugging Face folders through the whole engine: trained ones against logits that were computed in
// double precision from the same weights. They are not part of the tree; without them these tests
// are skipped. What a folder is seen as is judged by tests/hf.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "engine/logits_run.h"
#include "engine/open_model.h"
#include "tensor/npy.h"

namespace evener::engine {
namespace {

const std::filesystem::path kModels = std::filesystem::path(EVENER_SHARED) / "models";
constexpr size_t kNumTokens = 128;

struct TrainedFolder {
  const char* name;
  const char* expected;
  float gap_max;       // of any logit
  float gap_mean_max;  // on average; logits have a standard deviation of 3.5
};

std::vector<int32_t> first_tokens(const gguf::File& file) {
  std::ifstream stream(kModels / "text/valid.txt");
  std::string text(std::istreambuf_iterator<char>(stream), {});
  text.resize(4096);
  const auto tokenizer = open_tokenizer(file);
  EXPECT_TRUE(tokenizer.has_value()) << to_string(tokenizer.error());
  auto tokens =
      (*tokenizer)
          ->encode(text, {.special = tokenizer::SpecialTokens::parse, .add_special = false});
  EXPECT_GT(tokens.size(), kNumTokens);
  tokens.resize(kNumTokens);
  return tokens;
}

std::vector<float> logits_of(const gguf::File& file, size_t chunk) {
  auto device = device::cpu::create_cpu_device({.numa_node = 0, .num_threads = 2, .isa = ""});
  auto run = LogitsRun::create(
      file, **device,
      {.kv_type = device::KvType::f32, .chunk = chunk, .num_tokens_max = kNumTokens});
  EXPECT_TRUE(run.has_value()) << to_string(run.error());
  std::vector<float> all;
  const auto status = run->feed(first_tokens(file), [&all](size_t, std::span<const float> row) {
    all.insert(all.end(), row.begin(), row.end());
  });
  EXPECT_TRUE(status.has_value()) << to_string(status.error());
  return all;
}

class TrainedFolders : public testing::TestWithParam<TrainedFolder> {};

TEST_P(TrainedFolders, GiveTheLogitsOfTheirWeights) {
  if (!std::filesystem::exists(kModels / "tiny35-hf")) GTEST_SKIP() << "needs the trained models";
  const auto file = open_model(kModels / GetParam().name);
  ASSERT_TRUE(file.has_value()) << to_string(file.error());
  const auto want = read_npy(kModels / "expected" / GetParam().expected);
  ASSERT_TRUE(want.has_value()) << to_string(want.error());
  const auto got = logits_of(*file, 512);
  ASSERT_EQ(got.size(), want->values.size());
  float gap = 0;
  double sum = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    gap = std::max(gap, std::abs(got[i] - want->values[i]));
    sum += double(std::abs(got[i] - want->values[i]));
  }
  const double mean = sum / double(got.size());
  RecordProperty("gap_max", std::to_string(gap));
  RecordProperty("gap_mean", std::to_string(mean));
  EXPECT_LE(gap, GetParam().gap_max);
  EXPECT_LE(mean, double(GetParam().gap_mean_max));
}

// F16 keeps FP8's weights but for rare last bits. Codes of 4 bits are multiplied as codes, with
// activations rounded to 8 bits as for every file of such a type; the codes themselves are those of
// the folder (AWQ decoded to F16 gave 2e-3 at most).
INSTANTIATE_TEST_SUITE_P(
    All, TrainedFolders,
    testing::Values(TrainedFolder{"tiny35-hf", "tiny35.logits.npy", 2e-4F, 2e-5F},
                    TrainedFolder{"tiny35-fp8", "tiny35-fp8.logits.npy", 5e-3F, 5e-4F},
                    TrainedFolder{"tiny35-gptq", "tiny35-gptq.logits.npy", 0.2F, 2e-2F},
                    TrainedFolder{"tiny35-awq", "tiny35-awq.logits.npy", 0.2F, 2e-2F}),
    [](const auto& param) { return std::string(param.param.name).substr(7); });

}  // namespace
}  // namespace evener::engine
