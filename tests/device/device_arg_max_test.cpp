// Goal: every device finds the same column, whatever the width, with ties and numbers that are
// none. Method: rows of numbers that are chosen to be hard, against a search of the plainest kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>

#include "device/rig.h"

namespace evener::device {
namespace {

using reference::Matrix;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class ArgMax : public testing::TestWithParam<TestDevice> {
 protected:
  std::vector<int32_t> best(const Tensor& x) {
    std::vector<int32_t> columns(x.rows, -7);
    rig_.device().arg_max(x, columns);
    return columns;
  }

  Rig rig_{GetParam(), 2};
  std::mt19937 random_{5};
};

std::vector<int32_t> wanted(const Matrix& x) {
  std::vector<int32_t> columns(x.rows, -1);
  for (size_t r = 0; r < x.rows; ++r) {
    double largest = -kInfinity;
    for (size_t c = 0; c < x.cols; ++c) {
      if (std::isfinite(x.at(r, c))) largest = std::max(largest, x.at(r, c));
    }
    for (size_t c = x.cols; c-- > 0;) {
      if (std::isfinite(x.at(r, c)) && x.at(r, c) == largest) columns[r] = int32_t(c);
    }
  }
  return columns;
}

TEST_P(ArgMax, FindsTheLargestOfRowsOfAnyWidth) {
  for (const size_t cols :
       {1, 2, 31, 255, 256, 257, 4095, 4096, 4097, 8192, 12'289, 248'320, 300'000}) {
    for (const size_t rows : {0, 1, 3}) {
      const Matrix x = random_matrix(random_, rows, cols, 4);
      EXPECT_EQ(best(rig_.put(x, 3)), wanted(x)) << rows << " x " << cols;
    }
  }
}

TEST_P(ArgMax, FindsItAnywhereInARow) {
  constexpr size_t kStep = 37;  // other lanes and pieces every time
  Matrix x(250, 250 * kStep);
  for (size_t r = 0; r < x.rows; ++r) x.at(r, r * kStep) = 1e-3;
  EXPECT_EQ(best(rig_.put(x)), wanted(x));
}

TEST_P(ArgMax, OfEqualValuesTheFirstColumnWins) {
  for (const size_t cols : {2, 300, 20'000}) {
    Matrix x(8, cols);
    for (double& value : x.values) value = double(random_() % 3) - 3;  // no zeros
    EXPECT_EQ(best(rig_.put(x, 1)), wanted(x)) << cols;
    for (double& value : x.values) value = random_() % 2 == 0 ? 0.0 : -0.0;
    EXPECT_EQ(best(rig_.put(x, 1)), std::vector<int32_t>(8, 0)) << cols << ", both zeros";
  }
}

TEST_P(ArgMax, TellsTheTiniestApart) {
  Matrix x(3, 500);
  for (double& value : x.values) value = -2e-44;
  x.at(0, 77) = -1e-44;
  x.at(1, 402) = 1e-44;
  x.at(2, 3) = -0.0;
  EXPECT_EQ(best(rig_.put(x)), (std::vector<int32_t>{77, 402, 3}));
}

TEST_P(ArgMax, PassesOverWhatIsNotFinite) {
  const double odd[] = {kInfinity, -kInfinity, kNan, -kNan};
  for (const size_t cols : {1, 7, 600, 9000}) {
    Matrix x = random_matrix(random_, 6, cols);
    for (size_t r = 0; r < 6; ++r) {
      for (size_t c = 0; c < cols; ++c) {
        if (r < 4) x.at(r, c) = odd[r];
        if (r >= 4 && random_() % 3 == 0) x.at(r, c) = odd[random_() % 4];
      }
    }
    EXPECT_EQ(best(rig_.put(x)), wanted(x)) << cols;
    for (size_t r = 0; r < 4; ++r) x.at(r, cols - 1) = -double{FLT_MAX};
    EXPECT_EQ(best(rig_.put(x)), wanted(x)) << cols << ", the smallest there is";
  }
}

TEST_P(ArgMax, ManyRowsAreFoundToo) {
  Matrix x(70'000, 3);
  for (double& value : x.values) value = double(random_() % 5);
  EXPECT_EQ(best(rig_.put(x)), wanted(x));
}

TEST_P(ArgMax, WaitsForWhatWasAskedBefore) {
  const Matrix x = random_matrix(random_, 4, 10'000);
  Matrix sum = random_matrix(random_, 4, 10'000);
  const Tensor y = rig_.put(sum, 2);
  EXPECT_EQ(best(y), wanted(sum));
  rig_.device().add(rig_.put(x), y);
  const std::vector<int32_t> columns = best(y);
  const std::vector<float> values = rig_.get(y);
  for (size_t i = 0; i < values.size(); ++i) sum.values[i] = double{values[i]};
  EXPECT_EQ(columns, wanted(sum));
}

INSTANTIATE_TEST_SUITE_P(Devices, ArgMax, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
