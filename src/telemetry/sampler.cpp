#include "telemetry/sampler.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace evener::telemetry {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Sampler::Sampler(Sensors sensors, std::chrono::milliseconds interval,
                 std::function<void(const Sample&)> use)
    : sensors_(std::move(sensors)),
      interval_(interval),
      use_(std::move(use)),
      thread_([this] { run(); }) {}

Sampler::~Sampler() { stop(); }

void Sampler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  served_.notify_all();
  std::call_once(joined_, [this] { thread_.join(); });
}

void Sampler::sample_now() {
  std::unique_lock lock(mutex_);
  const uint64_t number = ++num_wanted_;
  wake_.notify_all();
  served_.wait(lock, [&] { return stop_ || num_served_ >= number; });
}

Sampler::Cost Sampler::cost() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

void Sampler::run() noexcept {
  auto due = Clock::now();
  while (true) {
    take_sample();
    due = std::max(due + interval_,
                   Clock::now());  // what came late is not made up for
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, due, [this] { return stop_ || num_wanted_ > num_served_; });
    if (stop_) break;
  }
  take_sample();
}

void Sampler::take_sample() {
  uint64_t num_wanted = 0;
  {
    const std::lock_guard lock(mutex_);
    num_wanted = num_wanted_;
  }
  const auto start = Clock::now();
  const Sample sample = sensors_.read(start);
  const auto wall = Clock::now() - start;
  use_(sample);
  const std::lock_guard lock(mutex_);
  ++cost_.num_samples;
  cost_.wall += wall;
  cost_.cpu = thread_time();
  num_served_ = num_wanted;
  served_.notify_all();
}

}  // namespace evener::telemetry
