#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "device/rig.h"
#include "reference/activation.h"
#include "reference/norm.h"
#include "reference/rope.h"

namespace evener::device {
namespace {

using reference::Matrix;

class Ops : public testing::TestWithParam<TestDevice> {
 protected:
  double within(double tolerance) const { return tolerance * GetParam().tolerance_scale; }

  Rig rig_{GetParam(), 2};
  std::mt19937 random_{1};
};

const size_t kWidths[] = {1, 3, 4, 7, 8, 12, 16, 20, 31, 64, 100, 128, 1000, 5000};

std::string shape(size_t rows, size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

TEST_P(Ops, RmsNormOfAnyWidthAgreesWithTheJudgeAlsoInPlace) {
  for (const size_t cols : kWidths) {
    for (const size_t rows : {0, 1, 2, 40}) {
      const Matrix x = random_matrix(random_, rows, cols, 3);
      const Matrix gain = random_matrix(random_, 1, cols);
      const Matrix wanted = reference::rms_norm(x, gain, 1e-6);
      const Tensor in = rig_.put(x, 5);
      const Tensor out = rig_.empty(rows, cols, 3);
      rig_.device().rms_norm(in, rig_.put(gain), 1e-6f, out);
      expect_close(rig_.get(out), wanted, within(2e-6), shape(rows, cols));
      rig_.device().rms_norm(in, rig_.put(gain), 1e-6f, in);
      expect_equal_bits(rig_.get(in), rig_.get(out), "in place");
    }
  }
}

TEST_P(Ops, GatedRmsNormAgreesWithTheJudge) {
  for (const size_t cols : kWidths) {
    const Matrix x = random_matrix(random_, 33, cols, 3);
    const Matrix gate = random_matrix(random_, 33, cols, 4);
    const Matrix gain = random_matrix(random_, 1, cols);
    const Tensor out = rig_.empty(33, cols, 1);
    rig_.device().gated_rms_norm(rig_.put(x, 2), rig_.put(gain), 1e-5f, rig_.put(gate, 9), out);
    expect_close(rig_.get(out), reference::gated_rms_norm(x, gain, 1e-5, gate), within(3e-6),
                 shape(33, cols));
  }
}

TEST_P(Ops, ARowsNormDoesNotDependOnTheRowsBesideIt) {
  const Matrix x = random_matrix(random_, 100, 1000);
  const Matrix gain = random_matrix(random_, 1, 1000);
  const Tensor all = rig_.empty(100, 1000);
  rig_.device().rms_norm(rig_.put(x), rig_.put(gain), 1e-6f, all);
  for (const size_t row : {0, 1, 57, 99}) {
    const Tensor alone = rig_.empty(1, 1000);
    rig_.device().rms_norm(rig_.put(rows_of(x, row, 1)), rig_.put(gain), 1e-6f, alone);
    expect_equal_bits(rig_.get(alone), rig_.get(all.row_range(row, 1)), "row alone");
  }
}

TEST_P(Ops, RopeTurnsBothPairingsPartiallyAndLeavesTheRestAlone) {
  for (const auto pairing : {RopePairing::neighbours, RopePairing::halves}) {
    for (const size_t pairs : {2, 6, 8, 32, 50}) {
      const size_t head_dim = 2 * pairs + 6;
      const std::vector<int32_t> positions = {0, 1, 77, 4000, 250'000};
      std::vector<double> frequencies(pairs);
      for (size_t k = 0; k < pairs; ++k) {
        frequencies[k] = std::pow(1e6, -double(k) / double(pairs));
      }
      const Matrix x = random_matrix(random_, positions.size() * 3, head_dim);
      Matrix wanted = x;
      for (size_t r = 0; r < x.rows; ++r) {
        reference::rope(&wanted.at(r, 0), positions[r / 3], frequencies, 1.25,
                        pairing == RopePairing::halves ? reference::Pairing::halves
                                                       : reference::Pairing::neighbours);
      }
      const Tensor angles = rig_.empty(positions.size(), 2 * pairs, 4);
      rig_.device().rope_angles(positions, frequencies, 1.25f, angles);
      const Tensor turned = rig_.put(x, 11);
      rig_.device().rope(turned, angles, pairing);
      expect_close(rig_.get(turned), wanted, within(5e-7), "pairs " + std::to_string(pairs));
    }
  }
}

TEST_P(Ops, ActivationsAgreeWithTheJudgeFromTinyToHuge) {
  Matrix x(1, 4001);
  for (size_t i = 0; i < x.cols; ++i) {
    x.values[i] = double(float(std::sinh((double(i) - 2000) / 250)));
  }
  const Matrix up = random_matrix(random_, 1, x.cols);
  Matrix silu = x;
  Matrix sigmoid = up;
  for (size_t i = 0; i < x.cols; ++i) {
    silu.values[i] = reference::silu(x.values[i]) * up.values[i];
    sigmoid.values[i] = up.values[i] * reference::sigmoid(x.values[i]);
  }
  const Tensor y = rig_.empty(1, x.cols);
  rig_.device().silu_mul(rig_.put(x), rig_.put(up), y);
  expect_close(rig_.get(y), silu, within(5e-7), "silu");
  rig_.device().sigmoid_mul(rig_.put(up), rig_.put(x), y);
  expect_close(rig_.get(y), sigmoid, within(5e-7), "sigmoid");
}

TEST_P(Ops, OneGateForARowScalesAllOfIt) {
  for (const size_t cols : {1, 5, 64, 3000}) {
    Matrix x = random_matrix(random_, 30, cols);
    const Matrix gate = random_matrix(random_, 30, 1, 4);
    const Tensor in = rig_.put(x, 2);
    rig_.device().sigmoid_mul(in, rig_.put(gate, 3), in);
    for (size_t i = 0; i < x.values.size(); ++i) {
      x.values[i] *= reference::sigmoid(gate.values[i / cols]);
    }
    expect_close(rig_.get(in), x, within(5e-7), shape(30, cols));
  }
}

// Of graphics processors as good as the Vulkan specification demands of exp() and of a division.
TEST_P(Ops, TheExponentialIsGoodToAFewUnitsInTheLastPlace) {
  std::uniform_real_distribution<double> uniform(-87, 0);
  Matrix x(1, 20'000);
  for (double& value : x.values) value = double(float(uniform(random_)));
  Matrix one(1, x.cols);
  for (double& value : one.values) value = 1;
  const Tensor y = rig_.empty(1, x.cols);
  rig_.device().sigmoid_mul(rig_.put(one), rig_.put(x), y);
  const std::vector<float> got = rig_.get(y);
  for (size_t i = 0; i < x.cols; ++i) {
    const double wanted = reference::sigmoid(x.values[i]);
    const double units = GetParam().is_cpu ? 4 : 8 + 4 * std::abs(x.values[i]);
    ASSERT_LE(std::abs(double(got[i]) / wanted - 1), units * 0x1p-24) << x.values[i];
  }
}

TEST_P(Ops, ActivationsPassOnWhatIsNotFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  Matrix x(1, 4);
  x.values = {inf, -1e30, std::nan(""), 1e30};
  Matrix one(1, 4);
  one.values = {1, 1, 1, 1};
  const Tensor y = rig_.empty(1, 4);
  rig_.device().sigmoid_mul(rig_.put(one), rig_.put(x), y);
  const std::vector<float> got = rig_.get(y);
  expect_exact(got[0], 1, GetParam().rounding, "infinity");
  EXPECT_EQ(got[1], 0);
  EXPECT_TRUE(std::isnan(got[2]));
  expect_exact(got[3], 1, GetParam().rounding, "1e30");
}

TEST_P(Ops, AddAndGatherRowsDoWhatTheySay) {
  const Matrix x = random_matrix(random_, 9, 1500);
  const Matrix y = random_matrix(random_, 9, 1500);
  Matrix sum = y;
  for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += x.values[i];
  const Tensor target = rig_.put(y, 4);
  rig_.device().add(rig_.put(x, 2), target);
  expect_close(rig_.get(target), sum, 1e-7, "add");

  const std::vector<int32_t> rows = {8, 0, 3, 3};
  const Tensor gathered = rig_.empty(rows.size(), 1500);
  rig_.device().gather_rows(target, rows, gathered);
  for (size_t i = 0; i < rows.size(); ++i) {
    expect_equal_bits(rig_.get(gathered.row_range(i, 1)),
                      rig_.get(target.row_range(size_t(rows[i]), 1)), "row");
  }
}

// Memory that was used before is as fresh as any, and large tensors go in pieces.
TEST_P(Ops, FreshMemoryIsZeroAndLargeTensorsComeBackWhole) {
  constexpr size_t kRows = 2500;
  constexpr size_t kCols = 2000;
  constexpr size_t kStride = kCols + 3;
  std::vector<float> values(kRows * kCols);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 8191) + 1;
  for (int round = 0; round < 2; ++round) {
    const auto buffer = rig_.device().allocate(kRows * kStride * sizeof(float)).value();
    EXPECT_GE(buffer->size_bytes(), kRows * kStride * sizeof(float));
    const Tensor all = {buffer.get(), 0, kRows, kStride, kStride};
    EXPECT_EQ(std::ranges::count(rig_.get(all), 0.0F), ptrdiff_t(kRows * kStride)) << round;
    rig_.device().write(values, all.columns(2, kCols));
    EXPECT_EQ(rig_.get(all.columns(2, kCols)), values);
    EXPECT_EQ(std::ranges::count(rig_.get(all), 0.0F), ptrdiff_t(3 * kRows)) << round;
  }
}

TEST_P(Ops, WhatTheHostSeesOfATensorIsTheTensor) {
  const Matrix x = random_matrix(random_, 3, 40);
  const Tensor y = rig_.put(x, 6);
  rig_.device().add(rig_.put(x), y);
  const std::vector<float> doubled = rig_.get(y);
  float* const host = rig_.device().host_data(y);
  if (host == nullptr) return;
  for (size_t i = 0; i < doubled.size(); ++i) {
    ASSERT_EQ(host[i / 40 * y.stride + i % 40], doubled[i]) << i;
  }
  for (size_t r = 0; r < 3; ++r) host[r * y.stride + r] = float(r);
  const Tensor sum = rig_.put(Matrix(3, 40));
  rig_.device().add(y, sum);
  std::vector<float> wanted = doubled;
  for (size_t r = 0; r < 3; ++r) wanted[r * 40 + r] = float(r);
  EXPECT_EQ(rig_.get(sum), wanted);
}

// What a device has yet to run when its memory goes is nobody's result.
TEST_P(Ops, MemoryMayGoBeforeWhatUsesItIsRead) {
  const Matrix x = random_matrix(random_, 30, 500);
  const Tensor kept = rig_.put(x);
  {
    const auto buffer = rig_.device().allocate(30 * 500 * sizeof(float)).value();
    const Tensor gone = {buffer.get(), 0, 30, 500, 500};
    rig_.device().add(kept, gone);
    rig_.device().add(gone, kept);
  }
  Matrix doubled = x;
  for (double& value : doubled.values) value *= 2;
  expect_close(rig_.get(kept), doubled, 1e-7, "twice");
}

TEST_P(Ops, MemoryThatNoMachineHasIsAnError) {
  EXPECT_EQ(rig_.device().allocate(size_t{1} << 60).error().code, Code::out_of_memory);
  KvCacheShape kv = {.num_layers = 1,
                     .num_pages = size_t{1} << 45,
                     .page_size = 16,
                     .num_kv_heads = 1,
                     .head_dim = 16,
                     .type = KvType::f16};
  EXPECT_EQ(rig_.device().create_kv_cache(kv).error().code, Code::out_of_memory);
  kv.num_pages = std::numeric_limits<size_t>::max() / 4;
  EXPECT_EQ(rig_.device().create_kv_cache(kv).error().code, Code::out_of_memory);
  kv.num_pages = 1;
  kv.type = KvType::q8_0;
  EXPECT_EQ(rig_.device().create_kv_cache(kv).error().code, Code::unsupported);
  const StateCacheShape state = {.num_layers = 1,
                                 .num_slots = std::numeric_limits<size_t>::max() / 1000,
                                 .conv_taps = 4,
                                 .conv_channels = 48,
                                 .num_value_heads = 1,
                                 .head_dim = 16};
  EXPECT_EQ(rig_.device().create_state_cache(state).error().code, Code::out_of_memory);
}

INSTANTIATE_TEST_SUITE_P(Devices, Ops, testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace evener::device
