#include "device/cpu_rig.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/cpu/kernel_device.h"

namespace evener::device {
namespace {

constexpr size_t kBufferFloats = 256 * 1024;  // small tensors share a buffer

std::unique_ptr<ThreadPool> make_pool(size_t num_threads) {
  const auto node = cpu::read_cpu_node(0);
  std::vector<int> cpus;
  for (size_t i = 0; i < num_threads; ++i) cpus.push_back(node->cpus[i % node->cpus.size()]);
  return std::move(ThreadPool::create(cpus)).value();
}

// The linear maps of the same instruction set.
const cpu::LinearKernels& linear_beside(const cpu::OpsKernels& kernels) {
  if (&kernels == emulated_kernels().ops) return *emulated_kernels().linear;
  const bool has_avx512 = &kernels == &cpu::ops_kernels_avx512;
  return cpu::linear_kernels(has_avx512 ? cpu::available_isas().back() : cpu::Isa::avx2);
}

}  // namespace

EmulatedKernels emulated_kernels() {
#ifdef EVENER_EMULATED_KERNELS
  return {.ops = &cpu::ops_kernels_avx512_emulated,
          .linear = &cpu::linear_kernels_avx512vnni_emulated};
#else
  return {};
#endif
}

std::vector<const cpu::OpsKernels*> runnable_kernels() {
  std::vector<const cpu::OpsKernels*> kernels;
  if (const auto* emulated = emulated_kernels().ops) kernels.push_back(emulated);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    kernels.push_back(&cpu::ops_kernels_avx2);
  }
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    kernels.push_back(&cpu::ops_kernels_avx512);
  }
  return kernels;
}

CpuRig::CpuRig(const cpu::OpsKernels& kernels, size_t num_threads)
    : device_(std::make_unique<cpu::KernelDevice>(
          DeviceInfo{
              .name = "cpu:0", .description = kernels.isa, .memory_bytes = 0, .cache_layout = {}},
          kernels, linear_beside(kernels), make_pool(num_threads))) {}

Tensor CpuRig::put(const reference::Matrix& values, size_t gap) {
  const Tensor tensor = empty(values.rows, values.cols, gap);
  device_->write(std::vector<float>(values.values.begin(), values.values.end()), tensor);
  return tensor;
}

Tensor CpuRig::empty(size_t rows, size_t cols, size_t gap) {
  const size_t size = rows * (cols + gap);
  if (buffers_.empty() || used_ + size > buffers_.back()->size_bytes() / sizeof(float)) {
    const size_t size_bytes = std::max(size, kBufferFloats) * sizeof(float);
    buffers_.push_back(std::move(device_->allocate(size_bytes)).value());
    used_ = 0;
  }
  const Tensor tensor = {buffers_.back().get(), used_, rows, cols, cols + gap};
  used_ += size;
  return tensor;
}

std::vector<float> CpuRig::get(const Tensor& tensor) {
  std::vector<float> values(tensor.rows * tensor.cols);
  device_->read(tensor, values);
  return values;
}

reference::Matrix random_matrix(std::mt19937& random, size_t rows, size_t cols, double scale) {
  std::normal_distribution<double> normal(0, scale);
  reference::Matrix matrix(rows, cols);
  for (double& value : matrix.values) value = double(float(normal(random)));
  return matrix;
}

reference::Matrix rows_of(const reference::Matrix& values, size_t begin, size_t count) {
  reference::Matrix part(count, values.cols);
  for (size_t r = 0; r < count; ++r) {
    for (size_t c = 0; c < values.cols; ++c) part.at(r, c) = values.at(begin + r, c);
  }
  return part;
}

void expect_close(std::span<const float> got, const reference::Matrix& wanted, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), wanted.values.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    const double w = wanted.values[i];
    ASSERT_LE(std::abs(double(got[i]) - w), tolerance * (1 + std::abs(w)))
        << what << ": row " << i / wanted.cols << ", column " << i % wanted.cols << ": got "
        << got[i] << ", want " << w;
  }
}

void expect_equal_bits(std::span<const float> a, std::span<const float> b,
                       const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i]))
        << what << ": value " << i << ": " << a[i] << " and " << b[i];
  }
}

}  // namespace evener::device
