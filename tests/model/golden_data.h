#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tensor/float16.h"
#include "tensor/npy.h"

// Golden models, what the peer says of them, and how far from it is honest to expect.
namespace evener::golden {

inline const std::filesystem::path kData = EVENER_TEST_DATA;

// The largest files stay in the shared folder, which not everybody has.
inline std::filesystem::path model_file(const std::string& model) {
  const std::filesystem::path ours = kData / "models" / (model + ".gguf");
  if (std::filesystem::exists(ours)) return ours;
  return std::filesystem::path(EVENER_SHARED) / "golden/quantised" / (model + ".gguf");
}

inline const nlohmann::json& manifest() {
  static const nlohmann::json parsed =
      nlohmann::json::parse(std::ifstream(kData / "golden/manifest.json"));
  return parsed;
}

// `kind` is "models" or "quantised".
inline std::vector<int32_t> prompt_of(const std::string& kind, const std::string& model) {
  return manifest()[kind][model]["prompt"].get<std::vector<int32_t>>();
}

inline NpyMatrix expected(const std::string& name) {
  auto matrix = read_npy(kData / "golden" / (name + ".npy"));
  EXPECT_TRUE(matrix.has_value()) << to_string(matrix.error());
  return std::move(*matrix);
}

inline std::vector<float> row_maxima(std::span<const float> a, std::span<const float> b,
                                     size_t cols) {
  std::vector<float> maxima(a.size() / cols, 0);
  for (size_t i = 0; i < a.size(); ++i) {
    const float gap = std::abs(a[i] - b[i]);
    maxima[i / cols] = std::isfinite(gap) ? std::max(maxima[i / cols], gap) : INFINITY;
  }
  return maxima;
}

inline float maximum(const std::vector<float>& values) { return *std::ranges::max_element(values); }

inline float median(std::vector<float> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// F32 weights: 1e-4 is the bound the golden data call safe. F16 and BF16: the peer rounds the
// inputs of matrices to the weight's type, we keep them in f32, which is off by 2e-2 and 1e-1.
inline float tolerance(const std::string& model) {
  if (model.ends_with("bf16")) return 1.5e-1F;
  return model.ends_with("f16") ? 3e-2F : 1e-4F;
}

// Half a unit of the last place that the golden data keep, relative to the value: most were stored
// in half precision.
inline float stored_rounding(const NpyMatrix& want) {
  const bool halves = std::ranges::all_of(
      want.values, [](float value) { return f16_to_f32(f32_to_f16(value)) == value; });
  return halves ? 0x1p-11F : 0.0F;
}

// What is closest to `got` of all that would have been stored as `want`.
inline std::vector<float> nearest_stored_as(std::span<const float> got, std::span<const float> want,
                                            float rounding) {
  std::vector<float> nearest(got.begin(), got.end());
  for (size_t i = 0; i < got.size(); ++i) {
    const float room = std::abs(want[i]) * rounding;
    nearest[i] = std::clamp(got[i], want[i] - room, want[i] + room);
  }
  return nearest;
}

// For names of parametrised tests.
inline std::string test_name(std::string model) {
  std::ranges::replace(model, '-', '_');
  return model;
}

}  // namespace evener::golden
