#include "parallel/rank_rig.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "device/cpu/cpu_node.h"
#include "device/cpu/isa.h"
#include "device/cpu/kernel_device.h"

namespace evener::parallel {
namespace {

// As a card is: the host may not look into its memory.
class HiddenDevice final : public device::cpu::KernelDevice {
 public:
  using KernelDevice::KernelDevice;
  float* host_data(const device::Tensor&) override { return nullptr; }
};

template <class D>
std::unique_ptr<device::Device> make_device() {
  const int cpu = device::cpu::read_cpu_node(0)->cpus.front();
  auto pool = ThreadPool::create(std::span(&cpu, 1));
  return std::make_unique<D>(
      device::DeviceInfo{.name = "cpu:0", .description = {}, .memory_bytes = 0, .cache_layout = {}},
      device::cpu::ops_kernels_avx2, device::cpu::linear_kernels(device::cpu::Isa::avx2),
      *std::move(pool));
}

}  // namespace

RankRig::RankRig(Access access)
    : device_(access == Access::in_place ? make_device<device::cpu::KernelDevice>()
                                         : make_device<HiddenDevice>()) {}

device::Tensor RankRig::empty(size_t rows, size_t cols, size_t gap) {
  const size_t stride = cols + gap;
  buffers_.push_back(device_->allocate(rows * stride * sizeof(float)).value());
  device_->write(std::vector<float>(rows * stride, kGap),
                 {buffers_.back().get(), 0, rows, stride, stride});
  return {buffers_.back().get(), 0, rows, cols, stride};
}

device::Tensor RankRig::put(size_t rows, size_t cols, std::span<const float> values, size_t gap) {
  const device::Tensor x = empty(rows, cols, gap);
  device_->write(values, x);
  return x;
}

std::vector<float> RankRig::values(const device::Tensor& x) {
  std::vector<float> values(x.rows * x.cols);
  device_->read(x, values);
  return values;
}

bool RankRig::gaps_are_whole(const device::Tensor& x) {
  const size_t gap = x.stride - x.cols;
  const std::vector<float> between = values({x.buffer, x.offset + x.cols, x.rows, gap, x.stride});
  return std::ranges::all_of(between, [](float value) { return value == kGap; });
}

void run_ranks(std::vector<RankComms>& ranks, const std::function<void(RankComms&)>& body) {
  std::vector<std::thread> threads;
  for (RankComms& comms : ranks) threads.emplace_back([&] { body(comms); });
  for (std::thread& thread : threads) thread.join();
}

std::vector<float> random_values(size_t count, size_t seed) {
  std::mt19937 random(static_cast<uint32_t>(seed));
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-12, 12);
  std::vector<float> values(count);
  for (float& value : values) value = std::ldexp(mantissa(random), exponent(random));
  return values;
}

std::vector<float> sum_of(std::span<const std::vector<float>> terms) {
  std::vector<float> sum = terms.front();
  for (const std::vector<float>& term : terms.subspan(1)) {
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += term[i];
  }
  return sum;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(std::as_bytes(a), std::as_bytes(b));  // NaNs and signs of zero count
}

}  // namespace evener::parallel
