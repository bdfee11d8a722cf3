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
  std::call_once(joined_, [this] { thread_.join(); });
}

Sampler::Cost Sampler::cost() const {
  const std::lock_guard lock(mutex_);
  return cost_;
}

void Sampler::run() noexcept {
  auto due = Clock::now();
  while (true) {
    take_sample();
    due = std::max(due + interval_, Clock::now());  // what came late is not made up for
    std::unique_lock lock(mutex_);
    if (wake_.wait_until(lock, due, [this] { return stop_; })) break;
  }
  take_sample();
}

void Sampler::take_sample() {
  const auto start = Clock::now();
  const Sample sample = sensors_.read(start);
  const auto wall = Clock::now() - start;
  use_(sample);
  const std::lock_guard lock(mutex_);
  ++cost_.num_samples;
  cost_.wall += wall;
  cost_.cpu = thread_time();
}

}  // namespace evener::telemetry
