// Goal: on every device linear maps and embeddings of every weight format give what the judge
// gives, and a row's bits depend on that row alone. Method: random blocks (every code legal, sane
// scales) and random shapes. Results lie within wider rows, whose other columns must stay as they
// are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/rig.h"
#include "device/stored_weight.h"
#include "quant/format.h"
#include "reference/linear.h"

namespace evener::device {
namespace {

using reference::Matrix;

constexpr unsigned kSeed = 20261129;
constexpr float kUntouched = 7;

Matrix filled(size_t rows, size_t cols, double value) {
  Matrix matrix(rows, cols);
  std::ranges::fill(matrix.values, value);
  return matrix;
}

// A weight on a device, with what the judge needs.
struct Map {
  Stored stored;
  std::unique_ptr<Weight> weight;
  Matrix bias;  // of no rows: none

  Map(Device& device, Stored source, Matrix added = {})
      : stored(std::move(source)),
        weight(device.upload(stored.source(), WeightUse::linear).value()),
        bias(std::move(added)) {}
};

// [rows, outputs] of each map of the same input.
std::vector<std::vector<float>> multiply(Rig& rig, const Tensor& x, std::span<const Map> maps) {
  constexpr size_t kBefore = 3;
  constexpr size_t kBehind = 2;
  std::vector<Tensor> wide;
  std::vector<LinearPart> parts;
  for (const Map& map : maps) {
    const size_t outputs = map.stored.outputs;
    wide.push_back(rig.put(filled(x.rows, kBefore + outputs + kBehind, kUntouched)));
    parts.push_back({.weight = map.weight.get(),
                     .bias = map.bias.rows > 0 ? rig.put(map.bias) : Tensor(),
                     .y = wide.back().columns(kBefore, outputs)});
  }
  rig.device().linear(x, parts);
  std::vector<std::vector<float>> results;
  for (size_t i = 0; i < maps.size(); ++i) {
    const std::vector<float> all = rig.get(wide[i]);
    results.emplace_back();
    for (size_t at = 0; at < all.size(); ++at) {
      const size_t col = at % wide[i].cols;
      if (col >= kBefore && col < kBefore + maps[i].stored.outputs) {
        results.back().push_back(all[at]);
      } else {
        EXPECT_EQ(all[at], kUntouched) << "row " << at / wide[i].cols << ", column " << col;
      }
    }
  }
  return results;
}

std::vector<float> multiply(Rig& rig, const Tensor& x, const Map& map) {
  return multiply(rig, x, {&map, 1}).front();
}

void expect_judged(std::span<const float> got, const Map& map, const Matrix& x,
                   const std::string& what) {
  const auto wanted = reference::linear(map.stored.judged(), x);
  const size_t outputs = map.stored.outputs;
  ASSERT_EQ(got.size(), wanted.y.values.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double bias = map.bias.rows > 0 ? map.bias.values[i % outputs] : 0;
    const double tolerance = 1e-5 * (wanted.magnitude.values[i] + std::abs(bias)) + 1e-30;
    ASSERT_NEAR(double(got[i]), wanted.y.values[i] + bias, tolerance)
        << what << ", row " << i / outputs << ", output " << i % outputs;
  }
}

class Linear : public testing::TestWithParam<TestDevice> {
 protected:
  Device& device() { return rig_.device(); }

  // Calls check(dtype) for each format, with random numbers of its own.
  template <class Check>
  void for_every_format(Check check) {
    for (const quant::Format* const format : quant::formats()) {
      SCOPED_TRACE(std::string(info(format->dtype).name));
      random_.seed(kSeed);
      check(format->dtype);
    }
  }
  size_t draw(size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random_);
  }
  // Any number for float types, whole blocks for others.
  size_t draw_inputs(DType dtype) {
    const size_t block = info(dtype).block_size;
    return block == 1 ? draw(1, 600) : block * draw(1, 600 / block + 1);
  }
  Map draw_map(DType dtype, size_t inputs) {
    const size_t outputs = draw(1, 200);
    const bool has_bias = draw(0, 1) == 1;
    return {device(), random_weight(random_, dtype, outputs, inputs),
            has_bias ? random_matrix(random_, 1, outputs) : Matrix()};
  }

  void check_random_shape(DType dtype, size_t rows) {
    const size_t inputs = draw_inputs(dtype);
    const size_t num_maps = draw(1, 3);
    std::vector<Map> maps;
    for (size_t i = 0; i < num_maps; ++i) maps.push_back(draw_map(dtype, inputs));
    const Matrix x = random_matrix(random_, rows, inputs);
    const auto results = multiply(rig_, rig_.put(x, draw(0, 9)), maps);
    for (size_t i = 0; i < num_maps; ++i) {
      expect_judged(results[i], maps[i], x,
                    std::to_string(rows) + " rows of " + std::to_string(inputs));
    }
  }

  Rig rig_{GetParam(), 2};
  std::mt19937 random_;
};

TEST_P(Linear, AgreesWithTheJudgeOnRandomShapes) {
  for_every_format([this](DType dtype) {
    for (int i = 0; i < 2; ++i) {
      check_random_shape(dtype, draw(1, 8));
      check_random_shape(dtype, draw(9, 140));
    }
  });
}

TEST_P(Linear, OfWideInputsAgreesWithTheJudge) {
  for_every_format([this](DType dtype) {
    const size_t block = info(dtype).block_size;
    const size_t inputs = block == 1 ? 8203 : 8192 + block;
    const Map map(device(), random_weight(random_, dtype, 5, inputs));
    for (const size_t rows : {2, 20}) {
      const Matrix x = random_matrix(random_, rows, inputs);
      expect_judged(multiply(rig_, rig_.put(x, 5), map), map, x, std::to_string(rows) + " rows");
    }
  });
}

// Activations of one size, some rows all of one sign.
Matrix extreme_rows(size_t inputs) {
  Matrix x(10, inputs);
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t row = i / inputs;
    const bool is_negative = row % 3 == 0 || (row % 3 == 2 && (i * i / 3) % 2 == 1);
    x.values[i] = is_negative ? -127 : 127;
  }
  return x;
}

TEST_P(Linear, ExtremeCodesAndActivationsDoNotSaturate) {
  for_every_format([this](DType dtype) {
    const size_t block = info(dtype).block_size;
    for (const int byte : {0x00, 0x7f, 0x80, 0x88, 0xff}) {
      Stored weight(dtype, 9, block == 1 ? 64 : 2 * block);
      weight.fill(std::byte(byte));
      weight.set_scales(random_);
      if (dtype == DType::F32) weight.fill(std::byte(0x3f));
      const Map map(device(), std::move(weight));
      const Matrix x = extreme_rows(map.stored.inputs);
      expect_judged(multiply(rig_, rig_.put(x), map), map, x, "byte " + std::to_string(byte));
    }
  });
}

TEST_P(Linear, ARowHasTheSameBitsWhateverTheRowsBesideIt) {
  for_every_format([this](DType dtype) {
    const size_t block = info(dtype).block_size;
    const size_t inputs = block == 1 ? 300 : 5 * block;
    const Map map(device(), random_weight(random_, dtype, 70, inputs));
    const Tensor x = rig_.put(random_matrix(random_, 150, inputs), 1);
    const std::vector<float> all = multiply(rig_, x, map);
    for (const size_t rows : {1, 2, 3, 4, 5, 8, 9, 31, 64, 65, 128, 129}) {
      const size_t first = rows % 7;
      const std::vector<float> some = multiply(rig_, x.row_range(first, rows), map);
      expect_equal_bits(some, std::span(all).subspan(first * 70, some.size()),
                        std::to_string(rows) + " rows");
    }
  });
}

TEST_P(Linear, ScalesAndActivationsThatAreNotNumbersCrashNothing) {
  for_every_format([this](DType dtype) {
    Stored weight = random_weight(random_, dtype, 5, 256);
    weight.break_scales();
    const Map map(device(), std::move(weight));
    Matrix x = random_matrix(random_, 12, 256);
    x.at(0, 3) = std::numeric_limits<double>::infinity();
    x.at(1, 0) = std::numeric_limits<double>::quiet_NaN();
    x.at(2, 0) = 3e38;
    x.at(3, 0) = 1e-44;
    EXPECT_EQ(multiply(rig_, rig_.put(x), map).size(), 60u);
    EXPECT_EQ(multiply(rig_, rig_.put(rows_of(x, 0, 4)), map).size(), 20u);
  });
}

TEST_P(Linear, ARowThatIsNoNumberLeavesTheOthersAlone) {
  for_every_format([this](DType dtype) {
    const Map map(device(), random_weight(random_, dtype, 9, 256));
    Matrix x = random_matrix(random_, 12, 256);
    const std::vector<float> clean = multiply(rig_, rig_.put(x), map);
    for (const size_t row : {1, 6}) {
      x.at(row, 3) = std::numeric_limits<double>::quiet_NaN();
      x.at(row, 200) = std::numeric_limits<double>::infinity();
    }
    const std::vector<float> got = multiply(rig_, rig_.put(x), map);
    for (const size_t row : {0, 2, 3, 4, 5, 7, 8, 9, 10, 11}) {
      expect_equal_bits(std::span(got).subspan(row * 9, 9), std::span(clean).subspan(row * 9, 9),
                        "row " + std::to_string(row));
    }
  });
}

TEST_P(Linear, ZeroActivationsGiveTheBias) {
  for_every_format([this](DType dtype) {
    const Matrix bias = random_matrix(random_, 1, 19);
    const Map map(device(), random_weight(random_, dtype, 19, 256), bias);
    for (const size_t rows : {1, 12}) {
      const std::vector<float> y = multiply(rig_, rig_.put(Matrix(rows, 256)), map);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], float(bias.values[i % 19])) << i;
    }
  });
}

TEST_P(Linear, OfDifferentTypesTogetherGiveWhatEachGivesAlone) {
  std::vector<Map> maps;
  const std::pair<DType, size_t> kinds[] = {
      {DType::Q4_K, 24}, {DType::Q8_0, 1}, {DType::F16, 17}, {DType::Q6_K, 40}};
  for (const auto& [dtype, outputs] : kinds) {
    maps.emplace_back(device(), random_weight(random_, dtype, outputs, 512));
  }
  for (const size_t rows : {1, 6, 140}) {
    const Tensor x = rig_.put(random_matrix(random_, rows, 512));
    const auto together = multiply(rig_, x, maps);
    for (size_t i = 0; i < maps.size(); ++i) {
      expect_equal_bits(together[i], multiply(rig_, x, maps[i]), "part " + std::to_string(i));
    }
  }
}

TEST_P(Linear, NoRowsAreNoWork) {
  const Map map(device(), random_weight(random_, DType::Q8_0, 3, 32));
  EXPECT_TRUE(multiply(rig_, rig_.put(Matrix(0, 32)), map).empty());
}

// Method: one activation that is not 0, so that the result is one weight.
TEST_P(Linear, KeepsSubnormalAndLargestScalesOfFourBitFloats) {
  // Many graphics cards take numbers below the normal ones for 0.
  for (const int exponent : {0, 1, 2, 3, 127, 250}) {
    if (exponent < 2 && !GetParam().is_cpu) continue;
    Stored weight(DType::MXFP4, 1, 32);
    weight.fill(std::byte(0x22));  // 1 everywhere
    weight.bytes[0] = std::byte(exponent);
    Matrix x(1, 32);
    x.values[7] = exponent < 64 ? 0x1p10 : 1;  // keeps the result normal
    const std::vector<float> y = multiply(rig_, rig_.put(x), Map(device(), std::move(weight)));
    EXPECT_NEAR(double(y[0]) / x.values[7] / std::ldexp(1.0, exponent - 127), 1, 1e-3) << exponent;
  }
  for (const int bits : {0x00, 0x01, 0x07, 0x08, 0x7e, 0x7f, 0xff}) {
    Stored weight(DType::NVFP4, 1, 64);
    weight.fill(std::byte(0x22));
    for (size_t i = 0; i < 4; ++i) weight.bytes[i] = std::byte(bits);
    std::vector<float> decoded(64);
    quant::find_format(DType::NVFP4)->decode(weight.bytes, decoded.data());
    Matrix x(1, 64);
    x.values[40] = 127;  // its block's scale is 1
    const std::vector<float> y = multiply(rig_, rig_.put(x), Map(device(), std::move(weight)));
    expect_exact(y[0], 127 * decoded[40], GetParam().rounding, "bits " + std::to_string(bits));
  }
}

TEST_P(Linear, OfATypeThatCannotBeDecodedIsAnError) {
  const std::vector<std::byte> bytes(4 * 32);
  const WeightSource source{
      .name = "blk.0.x", .dtype = DType::I32, .outputs = 1, .inputs = 32, .bytes = bytes};
  for (const WeightUse use : {WeightUse::linear, WeightUse::embedding}) {
    const auto weight = device().upload(source, use);
    ASSERT_FALSE(weight.has_value());
    EXPECT_EQ(weight.error().code, Code::unsupported);
    EXPECT_EQ(weight.error().where, "tensor 'blk.0.x'");
  }
}

// Rows of an embedding are decoded to the bit, everywhere.
TEST_P(Linear, EmbeddingsAreTheDecodedRowsAskedForAndZeroesForNone) {
  for_every_format([this](DType dtype) {
    const Stored stored = random_weight(random_, dtype, 9, 256);
    std::vector<float> decoded(9 * 256);
    quant::find_format(dtype)->decode(stored.bytes, decoded.data());
    const auto weight = device().upload(stored.source(), WeightUse::embedding).value();
    const std::vector<int32_t> ids = {8, -1, 0, 3, 3};
    const Tensor wide = rig_.put(filled(ids.size(), 260, kUntouched));
    device().embedding(*weight, ids, wide.columns(1, 256));
    for (size_t i = 0; i < ids.size(); ++i) {
      const std::vector<float> zeroes(256);
      const auto wanted =
          ids[i] < 0 ? std::span(zeroes) : std::span(decoded).subspan(size_t(ids[i]) * 256, 256);
      const std::vector<float> row = rig_.get(wide.row_range(i, 1));
      expect_equal_bits(std::span(row).subspan(1, 256), wanted, "row " + std::to_string(i));
      for (const size_t col : {0, 257, 258, 259}) ASSERT_EQ(row[col], kUntouched) << col;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Linear, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
