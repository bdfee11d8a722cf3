// Goal: encoders leave little error, where it matters least, and lose nothing that a block can
// hold. Method: normal weights from fixed seeds; searches over every scale that a block could
// store; what llama.cpp's quantisers leave of such weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "quant/format.h"
#include "quant/iq3_grids.h"
#include "quant/iq3_points.h"
#include "tensor/float16.h"

namespace evener::quant {
namespace {

using Random = std::mt19937;

std::vector<float> normal_weights(Random& random, size_t count, float deviation) {
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> weights(count);
  for (float& weight : weights) weight = normal(random);
  return weights;
}

// As inputs of a linear map have it: most alike, some far more important.
std::vector<float> log_normal_importance(Random& random, size_t count) {
  std::lognormal_distribution<float> distribution(0, 1.5f);
  std::vector<float> importance(count);
  for (float& value : importance) value = distribution(random);
  return importance;
}

std::vector<std::byte> encoded(const Format& format, std::span<const float> weights,
                               std::span<const float> importance = {}) {
  const DTypeInfo& layout = info(format.dtype);
  std::vector<std::byte> blocks(weights.size() / layout.block_size * layout.block_bytes);
  format.encode(weights, importance, blocks);
  return blocks;
}

std::vector<float> decoded(const Format& format, std::span<const std::byte> blocks) {
  const DTypeInfo& layout = info(format.dtype);
  std::vector<float> weights(blocks.size() / layout.block_bytes * layout.block_size);
  format.decode(blocks, weights.data());
  return weights;
}

double weighted_error(std::span<const float> weights, std::span<const float> got,
                      std::span<const float> importance = {}) {
  double error = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double miss = double(weights[i]) - double(got[i]);
    error += miss * miss * (importance.empty() ? 1.0 : double(importance[i]));
  }
  return error;
}

double error_of(const Format& format, std::span<const float> weights,
                std::span<const float> importance = {}) {
  return weighted_error(weights, decoded(format, encoded(format, weights, importance)), importance);
}

std::vector<const Format*> encoders() {
  std::vector<const Format*> result;
  for (const Format* const format : formats()) {
    if (format->encode != nullptr) result.push_back(format);
  }
  return result;
}

class EveryEncoder : public testing::TestWithParam<const Format*> {
 protected:
  const Format& format() const { return *GetParam(); }
  size_t block() const { return info(format().dtype).block_size; }
  bool rounds_values_alone() const { return block() == 1; }

  Random random_{std::mt19937::default_seed};
};

TEST_P(EveryEncoder, MakesZerosOfZeros) {
  const std::vector<float> zeros(2 * 256);
  for (const float value : decoded(format(), encoded(format(), zeros))) {
    EXPECT_EQ(std::bit_cast<uint32_t>(value), 0u);
  }
  EXPECT_EQ(decoded(format(), encoded(format(), zeros, std::vector<float>(2 * 256, 3))), zeros);
}

TEST_P(EveryEncoder, NeedsNoImportance) {
  const std::vector<float> weights = normal_weights(random_, 512, 1);
  const auto plain = encoded(format(), weights);
  EXPECT_EQ(encoded(format(), weights, std::vector<float>(512, 7)), plain);
  EXPECT_EQ(encoded(format(), weights, std::vector<float>(512, 0)), plain) << "nothing known";
}

TEST_P(EveryEncoder, GivesABlockTheSameBytesWhereverItLies) {
  const std::vector<float> weights = normal_weights(random_, 1024, 0.3f);
  const std::vector<float> importance = log_normal_importance(random_, 1024);
  const auto all = encoded(format(), weights, importance);
  const auto last =
      encoded(format(), std::span(weights).last(256), std::span(importance).last(256));
  EXPECT_TRUE(std::ranges::equal(std::span(all).last(last.size()), last));
}

TEST_P(EveryEncoder, SparesWhatIsImportant) {
  if (rounds_values_alone()) GTEST_SKIP() << "each value is the nearest anyway";
  const std::vector<float> weights = normal_weights(random_, 16384, 0.1f);
  const std::vector<float> importance = log_normal_importance(random_, 16384);
  const auto with = decoded(format(), encoded(format(), weights, importance));
  const auto without = decoded(format(), encoded(format(), weights));
  EXPECT_LT(weighted_error(weights, with, importance),
            0.97 * weighted_error(weights, without, importance));
  EXPECT_GT(weighted_error(weights, with), weighted_error(weights, without));
}

TEST_P(EveryEncoder, LetsNoUnimportantWeightSpoilTheOthers) {
  if (rounds_values_alone()) GTEST_SKIP() << "each value is the nearest anyway";
  std::vector<float> weights = normal_weights(random_, 8 * 256, 0.1f);
  std::vector<float> importance(weights.size(), 1);
  for (size_t i = 0; i < weights.size(); i += 64) {
    weights[i] = 0;
    importance[i] = 0;
  }
  const double error = error_of(format(), weights, importance);
  for (size_t i = 0; i < weights.size(); i += 64) weights[i] = i % 128 == 0 ? 30.0f : -30.0f;
  EXPECT_LT(error_of(format(), weights, importance), 1.1 * error);
}

TEST_P(EveryEncoder, GivesUnimportantWeightsSensibleValues) {
  if (rounds_values_alone()) GTEST_SKIP() << "each value is the nearest anyway";
  const std::vector<float> weights = normal_weights(random_, 256, 0.1f);
  std::vector<float> importance(256, 1);
  std::fill_n(importance.begin(), 32, 0.0f);
  const auto got = decoded(format(), encoded(format(), weights, importance));
  const auto first = std::span(weights).first(32);
  EXPECT_LT(weighted_error(first, std::span(got).first(32)),
            0.2 * weighted_error(first, std::vector<float>(32)));
}

TEST_P(EveryEncoder, AnyScaleOfTheWeightsIsAsGood) {
  if (format().dtype == DType::F16) GTEST_SKIP() << "a half has its own range";
  const std::vector<float> weights = normal_weights(random_, 2048, 1);
  const double error = error_of(format(), weights);
  for (const float factor : {0x1p-5f, 1024.0f}) {
    std::vector<float> scaled(weights);
    for (float& weight : scaled) weight *= factor;
    const double square = double(factor) * double(factor);
    EXPECT_NEAR(error_of(format(), scaled), error * square, 0.02 * error * square) << factor;
  }
}

TEST_P(EveryEncoder, WeightsThatAreNotNumbersCrashNothing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float strange : {kInfinity, -kInfinity, kNan}) {
    std::vector<float> weights = normal_weights(random_, 512, 1);
    weights[3] = strange;
    weights[200] = -strange;
    EXPECT_FALSE(decoded(format(), encoded(format(), weights)).empty());
    std::ranges::fill(weights, strange);
    EXPECT_FALSE(decoded(format(), encoded(format(), weights)).empty());
  }
}

TEST_P(EveryEncoder, HugeAndTinyWeightsStayFinite) {
  for (const float deviation : {1e-44f, 1e-30f, 1e-8f, 1e6f, 1e30f, 1e38f}) {
    const std::vector<float> weights = normal_weights(random_, 1024, deviation);
    for (const float value : decoded(format(), encoded(format(), weights))) {
      ASSERT_TRUE(std::isfinite(value)) << deviation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryEncoder, testing::ValuesIn(encoders()),
                         [](const auto& instance) {
                           return std::string(evener::info(instance.param->dtype).name);
                         });

// What is left of the variance of normal weights. The bounds are what llama.cpp's quantisers left
// of the weights behind the golden blocks, which are as many as here.
struct Bound {
  DType dtype;
  double error;
};

class NormalWeights : public testing::TestWithParam<Bound> {};

TEST_P(NormalWeights, LoseNoMoreThanThePeerLoses) {
  Random random(11);
  const std::vector<float> weights = normal_weights(random, 48 * 256, 1);
  const double left = error_of(*find_format(GetParam().dtype), weights) / double(weights.size());
  EXPECT_LT(left, GetParam().error);
  EXPECT_GT(left, GetParam().error / 2) << "too good to be true";
}

INSTANTIATE_TEST_SUITE_P(
    Formats, NormalWeights,
    testing::Values(Bound{DType::Q8_0, 2.81e-5}, Bound{DType::Q4_0, 6.55e-3},
                    Bound{DType::Q5_0, 1.66e-3}, Bound{DType::Q4_K, 4.98e-3},
                    Bound{DType::Q5_K, 1.231e-3}, Bound{DType::Q6_K, 2.97e-4},
                    Bound{DType::IQ4_NL, 5.68e-3}, Bound{DType::IQ4_XS, 5.89e-3},
                    Bound{DType::IQ3_S, 1.915e-2}, Bound{DType::IQ3_XXS, 3.343e-2},
                    Bound{DType::MXFP4, 1.332e-2}),
    [](const auto& instance) { return std::string(evener::info(instance.param.dtype).name); });

// A format whose weights are scale * factor * level, by sub-blocks.
struct Product {
  DType dtype;
  size_t subs;
  std::vector<float> factors;
  std::vector<float> levels;
};

std::vector<float> whole_levels(int lowest, int highest, int step = 1) {
  std::vector<float> levels;
  for (int level = lowest; level <= highest; level += step) levels.push_back(float(level));
  return levels;
}

const std::vector<float> kIq4 = {-127, -104, -83, -65, -49, -35, -22, -10,
                                 1,    13,   25,  38,  53,  69,  89,  113};

float random_half(Random& random) {
  return f16_to_f32(f32_to_f16(std::uniform_real_distribution<float>(0.01f, 2)(random)));
}

float any_of(Random& random, const std::vector<float>& values) {
  return values[random() % values.size()];
}

class Products : public testing::TestWithParam<Product> {};

TEST_P(Products, ComeBackAsTheyAreIfTheyUseTheirRange) {
  const Product& product = GetParam();
  const size_t size = info(product.dtype).block_size;
  Random random(21);
  for (int round = 0; round < 40; ++round) {
    const float scale = random_half(random);
    std::vector<float> weights(size);
    float factor = product.factors.front();
    for (size_t i = 0; i < size; ++i) {
      const bool first = i % (size / product.subs) == 0;
      if (first && i > 0) factor = any_of(random, product.factors);
      const float level = first ? product.levels.front() : any_of(random, product.levels);
      weights[i] = scale * factor * level;
    }
    EXPECT_EQ(error_of(*find_format(product.dtype), weights), 0) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Products,
    testing::Values(Product{DType::Q4_0, 1, {1}, whole_levels(-8, 7)},
                    Product{DType::Q5_0, 1, {1}, whole_levels(-16, 15)},
                    Product{DType::Q8_0, 1, {1}, whole_levels(-127, 127)},
                    Product{DType::IQ4_NL, 1, {1}, kIq4},
                    Product{DType::IQ4_XS, 8, whole_levels(-32, 31), kIq4},
                    Product{DType::Q6_K, 16, whole_levels(-128, 127), whole_levels(-32, 31)}),
    [](const auto& instance) { return std::string(evener::info(instance.param.dtype).name); });

// A line of Q4_K or Q5_K whose codes reach both ends of their range is the only one for its
// weights.
void expect_lines_come_back(DType dtype, size_t num_codes) {
  Random random(22);
  for (int round = 0; round < 40; ++round) {
    const float scale = random_half(random);
    const float min = random_half(random);
    std::vector<float> weights;
    for (size_t sub = 0; sub < 8; ++sub) {
      const float sub_scale = scale * float(sub == 3 ? 63 : 1 + random() % 63);
      const float sub_min = min * float(sub == 5 ? 63 : random() % 64);
      for (size_t i = 0; i < 32; ++i) {
        const size_t code = i == 0 ? 0 : i == 1 ? num_codes - 1 : random() % num_codes;
        weights.push_back(sub_scale * float(code) - sub_min);
      }
    }
    EXPECT_EQ(error_of(*find_format(dtype), weights), 0) << round;
  }
}

TEST(Lines, ComeBackAsTheyAreIfTheyUseTheirRange) {
  expect_lines_come_back(DType::Q4_K, 16);
  expect_lines_come_back(DType::Q5_K, 32);
}

// 256 weights of a block of IQ3: every sub-block has the point that reaches farthest.
template <size_t kPoints>
std::vector<float> weights_of_points(Random& random, const Grid<4, kPoints>& grid, float unit) {
  const auto farthest_point = std::ranges::max_element(
      grid.points, {}, [](const auto& point) { return std::ranges::max(point); });
  const float scale = random_half(random) * unit;
  std::vector<float> weights;
  for (size_t i = 0; i < 64; ++i) {
    const auto& point = i % 8 == 0 ? *farthest_point : grid[random() % kPoints];
    for (const int8_t coordinate : point) weights.push_back(scale * float(coordinate));
  }
  for (size_t sub = 0; sub < 8; ++sub) {
    const float factor = sub == 2 ? 31 : float(1 + 2 * (random() % 16));
    for (size_t i = 0; i < 32; ++i) weights[sub * 32 + i] *= factor;
  }
  return weights;
}

TEST(PointsOfIq3, ComeBackAsTheyAreWithAnySigns) {
  Random random(23);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> weights = weights_of_points(random, iq3_s_grid, 1);
    for (float& weight : weights) weight = random() % 2 == 0 ? weight : -weight;
    EXPECT_EQ(error_of(*find_format(DType::IQ3_S), weights), 0) << round;
  }
}

TEST(PointsOfIq3, ComeBackAsTheyAreWithEvenSigns) {
  Random random(24);
  for (int round = 0; round < 20; ++round) {
    std::vector<float> weights = weights_of_points(random, iq3_xxs_grid, 0.25f);
    for (size_t octet = 0; octet < 32; ++octet) {
      const unsigned signs = even_signs(random() & 127);
      for (size_t j = 0; j < 8; ++j) {
        if ((signs >> j & 1) != 0) weights[octet * 8 + j] = -weights[octet * 8 + j];
      }
    }
    EXPECT_EQ(error_of(*find_format(DType::IQ3_XXS), weights), 0) << round;
  }
}

// The smallest error of a block of 32 with any finite half as scale and for each weight the nearest
// of `levels`.
double least_error(std::span<const float> levels, std::span<const float> x,
                   std::span<const float> q) {
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float scale = f16_to_f32(uint16_t(half));
    if (!std::isfinite(scale)) continue;
    double error = 0;
    for (size_t i = 0; i < x.size() && error < least; ++i) {
      const auto above = std::ranges::lower_bound(levels, x[i] / scale);
      const double high = above == levels.end() ? 1e30 : x[i] - double(scale * *above);
      const double low = above == levels.begin() ? 1e30 : x[i] - double(scale * *(above - 1));
      error += q[i] * std::min(high * high, low * low);
    }
    least = std::min(least, error);
  }
  return least;
}

struct OneScale {
  DType dtype;
  std::vector<float> levels;
  double excess;  // over the least error; of 8-bit codes any other scale changes some
};

class FormatsWithOneScale : public testing::TestWithParam<OneScale> {};

TEST_P(FormatsWithOneScale, ComeCloseToTheBestOfAllScales) {
  Random random(5);
  const std::vector<float> weights = normal_weights(random, 32 * 24, 0.02f);
  const std::vector<float> importance = log_normal_importance(random, weights.size());
  const auto got = decoded(*find_format(GetParam().dtype),
                           encoded(*find_format(GetParam().dtype), weights, importance));
  double least = 0;
  for (size_t at = 0; at < weights.size(); at += 32) {
    least += least_error(GetParam().levels, std::span(weights).subspan(at, 32),
                         std::span(importance).subspan(at, 32));
  }
  const double error = weighted_error(weights, got, importance);
  EXPECT_LE(error, GetParam().excess * least);
  EXPECT_GE(error, 0.999999 * least);
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatsWithOneScale,
                         testing::Values(OneScale{DType::Q4_0, whole_levels(-8, 7), 1.01},
                                         OneScale{DType::Q5_0, whole_levels(-16, 15), 1.02},
                                         OneScale{DType::Q8_0, whole_levels(-127, 127), 1.15},
                                         OneScale{DType::IQ4_NL, kIq4, 1.01}),
                         [](const auto& instance) {
                           return std::string(evener::info(instance.param.dtype).name);
                         });

TEST(Mxfp4Encoder, FindsTheBestOfAllExponents) {
  Random random(6);
  const Format& format = *find_format(DType::MXFP4);
  const std::vector<float> weights = normal_weights(random, 32 * 50, 0.02f);
  const std::vector<float> importance = log_normal_importance(random, weights.size());
  for (size_t at = 0; at < weights.size(); at += 32) {
    const auto x = std::span(weights).subspan(at, 32);
    const auto q = std::span(importance).subspan(at, 32);
    double least = std::numeric_limits<double>::infinity();
    for (int exponent = 0; exponent < 253; ++exponent) {
      const double unit = std::ldexp(1.0, exponent - 127);
      double error = 0;
      for (size_t i = 0; i < 32; ++i) {
        double miss = std::numeric_limits<double>::infinity();
        for (const double value : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0})
          miss = std::min(miss, std::abs(std::abs(double(x[i])) - value * unit));
        error += double(q[i]) * miss * miss;
      }
      least = std::min(least, error);
    }
    EXPECT_NEAR(error_of(format, x, q), least, 1e-5 * least);
  }
}

TEST(Mxfp4Encoder, KeepsWhatABlockCanHold) {
  Random random(7);
  const std::vector<float> values = {-6,   -4, -3,   -2, -1.5f, -1, -0.5f, 0,
                                     0.5f, 1,  1.5f, 2,  3,     4,  6};
  for (int exponent = -127; exponent <= 125; ++exponent) {
    std::vector<float> weights(32);
    for (float& weight : weights) weight = std::ldexp(any_of(random, values), exponent);
    const Format& format = *find_format(DType::MXFP4);
    EXPECT_EQ(decoded(format, encoded(format, weights)), weights) << exponent;
  }
}

TEST(F16Encoder, TakesTheNearestAndSaturates) {
  const float weights[] = {1.0f, -0.33333f, 65519.0f, 1e6f, -1e6f, 1e-9f};
  const std::vector<float> expected = {1.0f, -0.333251953125f, 65504, 65504, -65504, 0};
  EXPECT_EQ(decoded(*find_format(DType::F16), encoded(*find_format(DType::F16), weights)),
            expected);
}

TEST(Bf16Encoder, TakesTheNearestAndSaturates) {
  const float weights[] = {1.0f, -0.33333f, 3.4e38f, -3.4e38f};
  const std::vector<float> expected = {1.0f, -0.333984375f, 0x1.fep127f, -0x1.fep127f};
  EXPECT_EQ(decoded(*find_format(DType::BF16), encoded(*find_format(DType::BF16), weights)),
            expected);
}

template <size_t kPoints>
void expect_nearest_points(const Grid<4, kPoints>& grid, float reach) {
  Random random(9);
  const PointSearch search(grid.points);
  std::uniform_real_distribution<float> coordinate(-reach / 4, reach * 1.2f);
  for (int round = 0; round < 2000; ++round) {
    float target[4];
    for (float& value : target) value = coordinate(random);
    const std::vector<float> q = log_normal_importance(random, 4);
    const auto distance = [&](size_t index) {
      double sum = 0;
      for (size_t j = 0; j < 4; ++j) {
        sum += double(q[j]) * std::pow(double(target[j]) - grid[index][j], 2);
      }
      return sum;
    };
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < kPoints; ++i) least = std::min(least, distance(i));
    ASSERT_NEAR(distance(search.nearest(target, q.data())), least, 1e-5 * least) << round;
  }
}

TEST(PointSearch, FindsTheNearestOfAllPoints) {
  expect_nearest_points(iq3_s_grid, 15);
  expect_nearest_points(iq3_xxs_grid, 62);
}

}  // namespace
}  // namespace evener::quant
