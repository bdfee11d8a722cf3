#include "device/rig.h"

#include <bit>
#include <cmath>
#include <utility>

#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/cpu/kernel_device.h"
#include "device/tested_vulkan.h"
#include "device/vulkan/vulkan_device.h"

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

TestDevice cpu_device(const cpu::OpsKernels& kernels) {
  const auto make = [&kernels](size_t num_threads) {
    return std::make_shared<cpu::KernelDevice>(
        DeviceInfo{
            .name = "cpu:0", .description = kernels.isa, .memory_bytes = 0, .cache_layout = {}},
        kernels, linear_beside(kernels), make_pool(num_threads));
  };
  return {.name = kernels.isa, .make = make, .is_slow = &kernels == emulated_kernels().ops};
}

// All tests share one: some drivers take long to make it. Null until the first test asks.
std::shared_ptr<Device>& kept_vulkan_device() {
  static std::shared_ptr<Device> device;
  return device;
}

std::shared_ptr<Device> shared_vulkan_device(size_t) {
  std::shared_ptr<Device>& device = kept_vulkan_device();
  if (device == nullptr) {
    auto made = vulkan::create_vulkan_device({});
    if (!made.has_value()) ADD_FAILURE() << to_string(made.error());
    device = std::move(made).value();
  }
  return device;
}

// What the Vulkan specification lets drivers round is good to 2.5 units for a division, and to more
// for exponentials.
TestDevice vulkan_device(const vulkan::Adapter& adapter) {
  return {.name = "vulkan",
          .make = shared_vulkan_device,
          .is_cpu = false,
          .is_slow = adapter.is_software(),
          .tolerance_scale = 4,
          .rounding = 4 * 0x1p-24};
}

// Gives the device back while everything that it needs is still there.
class ClosesVulkan : public testing::Environment {
  void TearDown() override {
    kept_vulkan_device().reset();
    expect_no_complaints();
  }
};

[[maybe_unused]] const bool kIsWatched = [] {
  testing::AddGlobalTestEnvironment(std::make_unique<ClosesVulkan>().release());
  return fail_at_complaints();
}();

}  // namespace

EmulatedKernels emulated_kernels() {
#ifdef EVENER_EMULATED_KERNELS
  return {.ops = &cpu::ops_kernels_avx512_emulated,
          .linear = &cpu::linear_kernels_avx512vnni_emulated};
#else
  return {};
#endif
}

std::ostream& operator<<(std::ostream& out, const TestDevice& device) { return out << device.name; }

const std::vector<TestDevice>& test_devices() {
  static const std::vector<TestDevice> kDevices = [] {
    std::vector<TestDevice> devices;
    for (const cpu::OpsKernels* const kernels : runnable_kernels()) {
      devices.push_back(cpu_device(*kernels));
    }
    if (const auto& instance = tested_vulkan()) {
      devices.push_back(vulkan_device(instance->adapters().front()));
    }
    return devices;
  }();
  return kDevices;
}

std::string device_name(const testing::TestParamInfo<TestDevice>& instance) {
  return instance.param.name;
}

Tensor Rig::put(const reference::Matrix& values, size_t gap) {
  const Tensor tensor = empty(values.rows, values.cols, gap);
  device_->write(std::vector<float>(values.values.begin(), values.values.end()), tensor);
  return tensor;
}

Tensor Rig::empty(size_t rows, size_t cols, size_t gap) {
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

std::vector<float> Rig::get(const Tensor& tensor) {
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

void expect_exact(float got, float wanted, double rounding, const std::string& what) {
  EXPECT_LE(std::abs(double(got) - double(wanted)), rounding * std::abs(double(wanted)))
      << what << ": got " << got << ", want " << wanted;
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
