#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "device/cpu/kernels/linear_kernels.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/device.h"
#include "reference/matrix.h"

namespace evener::device {

// AVX-512's kernels with the intrinsics emulated, on machines without the instructions; elsewhere,
// and in builds with sanitizers, nulls.
struct EmulatedKernels {
  const cpu::OpsKernels* ops = nullptr;
  const cpu::LinearKernels* linear = nullptr;
};
EmulatedKernels emulated_kernels();

// A device that tests run on.
struct TestDevice {
  std::string name;  // in names of tests: "avx2", "avx512_emulated", "vulkan"
  // A device of its own with so many threads, or the one that all share, which has no threads.
  std::function<std::shared_ptr<Device>(size_t num_threads)> make;
  bool is_cpu = true;
  bool is_slow = false;        // emulated, or a graphics driver without hardware
  double tolerance_scale = 1;  // on distances from the judge
  double rounding = 0;         // relative, of what the CPU computes exactly
};
std::ostream& operator<<(std::ostream& out, const TestDevice& device);

// The CPU with each set of kernels that can run here, the emulated ones among them; and, unless the
// environment says EVENER_TEST_VULKAN=0, Vulkan's first adapter if there is one. Where Khronos'
// validation layer is installed it watches Vulkan, and its complaints fail the test that ran.
const std::vector<TestDevice>& test_devices();

// The name of an instance of a suite that runs on each of them.
std::string device_name(const testing::TestParamInfo<TestDevice>& instance);

// A device and the way between matrices and its memory. Random numbers follow from the seed alone.
class Rig {
 public:
  Rig(const TestDevice& device, size_t num_threads) : device_(device.make(num_threads)) {}

  Device& device() { return *device_; }

  // A tensor with values rounded to f32; rows lie cols + gap apart. Its buffer lives as long as
  // the rig.
  Tensor put(const reference::Matrix& values, size_t gap = 0);
  Tensor empty(size_t rows, size_t cols, size_t gap = 0);
  std::vector<float> get(const Tensor& tensor);

 private:
  std::shared_ptr<Device> device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  size_t used_ = 0;  // floats of the last buffer
};

// Normal deviates, rounded to f32, so that the judge sees what the device sees.
reference::Matrix random_matrix(std::mt19937& random, size_t rows, size_t cols, double scale = 1);

// Rows [begin, begin + count).
reference::Matrix rows_of(const reference::Matrix& values, size_t begin, size_t count);

// |got - wanted| <= tolerance * (1 + |wanted|) everywhere.
void expect_close(std::span<const float> got, const reference::Matrix& wanted, double tolerance,
                  const std::string& what);

// |got - wanted| <= rounding * |wanted|: equal where rounding is 0.
void expect_exact(float got, float wanted, double rounding, const std::string& what);

// Equal bits; the first difference is named.
void expect_equal_bits(std::span<const float> a, std::span<const float> b, const std::string& what);

}  // namespace evener::device
