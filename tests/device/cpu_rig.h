#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

// The kernels that can run here: those of the machine's instruction sets, and the emulated ones.
std::vector<const cpu::OpsKernels*> runnable_kernels();

// A CPU device with given kernels and threads, and the way between matrices and its memory. Random
// numbers follow from the seed alone.
class CpuRig {
 public:
  CpuRig(const cpu::OpsKernels& kernels, size_t num_threads);

  Device& device() { return *device_; }

  // A tensor with values rounded to f32; rows lie cols + gap apart. Its buffer lives as long as
  // the rig.
  Tensor put(const reference::Matrix& values, size_t gap = 0);
  Tensor empty(size_t rows, size_t cols, size_t gap = 0);
  std::vector<float> get(const Tensor& tensor);

 private:
  std::unique_ptr<Device> device_;
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

// Equal bits; the first difference is named.
void expect_equal_bits(std::span<const float> a, std::span<const float> b, const std::string& what);

}  // namespace evener::device
