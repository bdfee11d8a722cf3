// Matrices of trained folders in every layout against the same model's BF16 ones: what rounding to
// so many bits may cost and no more, so that an error of order, zero point or scale would show.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "base/json_fields.h"
#include "safetensors/folder_file.h"
#include "safetensors/layout.h"
#include "safetensors/scales.h"

namespace evener::safetensors {
namespace {

struct Trained {
  const char* folder;
  double error_max;  // root of mean squares, of the weights' own
};

class TrainedFolders : public testing::TestWithParam<Trained> {};

std::filesystem::path path_of(const std::string& folder) {
  return std::filesystem::path(EVENER_SHARED) / "models" / folder;
}

double relative_error(const Folder& coded_folder, const Folder& plain_folder,
                      const std::string& stem, const QuantConfig& config) {
  const auto matrix = open_coded(coded_folder, stem, config);
  EXPECT_TRUE(matrix.has_value()) << to_string(matrix.error());
  if (*matrix == nullptr) return -1;
  const auto checked = (*matrix)->check_values();
  EXPECT_TRUE(checked.has_value()) << to_string(checked.error());
  const Tensor* plain = plain_folder.find(stem + ".weight");
  EXPECT_EQ(plain->shape, (std::vector<uint64_t>{(*matrix)->outputs(), (*matrix)->inputs()}));
  std::vector<float> values((*matrix)->outputs() * (*matrix)->inputs());
  (*matrix)->decode(0, (*matrix)->outputs(), values.data());
  const Scales expected = *Scales::of(plain_folder, *plain);
  double error = 0;
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    error += std::pow(double(values[i]) - double(expected[i]), 2);
    sum += std::pow(double(expected[i]), 2);
  }
  return std::sqrt(error / sum);
}

TEST_P(TrainedFolders, DecodeToTheWeightsTheyWereMadeFrom) {
  if (!std::filesystem::exists(path_of("tiny35-hf"))) GTEST_SKIP() << "needs the trained models";
  const auto plain = Folder::open(path_of("tiny35-hf"));
  ASSERT_TRUE(plain.has_value()) << to_string(plain.error());
  const auto coded = Folder::open(path_of(GetParam().folder));
  ASSERT_TRUE(coded.has_value()) << to_string(coded.error());
  const auto json = read_json(path_of(GetParam().folder), "config.json", 1 << 20);
  ASSERT_TRUE(json.has_value()) << to_string(json.error());
  const auto config = read_quant_config(*json::Fields::of(**json, "config.json"));
  ASSERT_TRUE(config.has_value()) << to_string(config.error());
  double worst = 0;
  int num_coded = 0;
  for (const Tensor& tensor : plain->tensors()) {
    if (!tensor.name.ends_with(".weight")) continue;
    const std::string stem = tensor.name.substr(0, tensor.name.size() - 7);
    const double error = relative_error(*coded, *plain, stem, *config);
    if (error < 0) continue;
    ++num_coded;
    worst = std::max(worst, error);
    EXPECT_LT(error, GetParam().error_max) << stem;
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GE(num_coded, 50);
  EXPECT_GT(worst, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TrainedFolders,
                         testing::Values(Trained{"tiny35-fp8", 0.03}, Trained{"tiny35-gptq", 0.25},
                                         Trained{"tiny35-awq", 0.15}),
                         [](const auto& param) {
                           return std::string(param.param.folder).substr(7);
                         });

}  // namespace
}  // namespace evener::safetensors
