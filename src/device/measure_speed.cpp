#include "device/measure_speed.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "device/create_device.h"

namespace evener::device {
namespace {

using Clock = std::chrono::steady_clock;

// Together more than most caches hold; a small model's whole size.
constexpr size_t kWidth = 4096;
constexpr size_t kNumWeights = 4;
constexpr size_t kNumPromptRows = 32;
constexpr size_t kNumSamples = 3;

// A device with weights to go through.
class SpeedMeter {
 public:
  static Result<SpeedMeter> create(const std::string& name, size_t num_threads) {
    SpeedMeter meter;
    ASSIGN_OR_RETURN(meter.device_, create_device(name, num_threads));
    RETURN_IF_ERROR(meter.device_->bind_thread());
    const std::vector<std::byte> zeros(kWidth * kWidth / info(DType::Q8_0).block_size *
                                       info(DType::Q8_0).block_bytes);
    const WeightSource source{.name = "weights to measure with",
                              .dtype = DType::Q8_0,
                              .outputs = kWidth,
                              .inputs = kWidth,
                              .bytes = zeros};
    for (size_t i = 0; i < kNumWeights; ++i) {
      ASSIGN_OR_RETURN(auto weight, meter.device_->upload(source, WeightUse::linear));
      meter.weights_.push_back(std::move(weight));
    }
    constexpr size_t kBytes = kNumPromptRows * kWidth * sizeof(float);
    ASSIGN_OR_RETURN(meter.x_, meter.device_->allocate(kBytes));
    ASSIGN_OR_RETURN(meter.y_, meter.device_->allocate(kBytes));
    meter.multiply(1);  // what comes first takes longer
    return meter;
  }

  Status status() const { return device_->status(); }

  double bytes_per_s() {
    return double(kNumWeights * weights_.front()->size_bytes()) / least_seconds(1);
  }
  double operations_per_s() {
    return 2.0 * double(kNumWeights * kNumPromptRows * kWidth * kWidth) /
           least_seconds(kNumPromptRows);
  }

 private:
  void multiply(size_t num_rows) {
    const Tensor x{x_.get(), 0, num_rows, kWidth, kWidth};
    const Tensor y{y_.get(), 0, num_rows, kWidth, kWidth};
    for (const auto& weight : weights_) {
      const LinearPart part{.weight = weight.get(), .bias = {}, .y = y};
      device_->linear(x, {&part, 1});
    }
    std::vector<float> first(1);  // reading waits for all before it
    device_->read(Tensor{y_.get(), 0, 1, 1, kWidth}, first);
  }

  double least_seconds(size_t num_rows) {
    double least = 1e30;
    for (size_t i = 0; i < kNumSamples; ++i) {
      const auto begin = Clock::now();
      multiply(num_rows);
      least = std::min(least, std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return least;
  }

  std::unique_ptr<Device> device_;
  std::vector<std::unique_ptr<Weight>> weights_;
  std::unique_ptr<Buffer> x_;
  std::unique_ptr<Buffer> y_;
};

}  // namespace

Result<std::vector<DeviceSpeed>> measure_speeds(const std::vector<std::string>& names,
                                                size_t num_threads) {
  std::vector<DeviceSpeed> speeds(names.size());
  std::vector<Status> done(names.size());
  std::barrier together(std::ptrdiff_t(names.size()));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < names.size(); ++i) {
    threads.emplace_back([&, i] {
      auto meter = SpeedMeter::create(names[i], num_threads);
      if (!meter) done[i] = meter.error();
      together.arrive_and_wait();
      if (meter) speeds[i].bytes_per_s = meter->bytes_per_s();
      together.arrive_and_wait();
      if (!meter) return;
      speeds[i].operations_per_s = meter->operations_per_s();
      done[i] = meter->status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (Status& each : done) RETURN_IF_ERROR(std::move(each));
  return speeds;
}

}  // namespace evener::device
