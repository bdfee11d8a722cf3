#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "telemetry/sensors.h"

namespace evener::telemetry {

// A thread that reads sensors at an interval and hands on each sample. The first is read at once,
// and one more when it is told to stop, so that no run is too short for a beginning and an end.
class Sampler {
 public:
  // `use` is called on the sampler's thread and must not throw.
  Sampler(Sensors sensors, std::chrono::milliseconds interval,
          std::function<void(const Sample&)> use);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  // Reads at once, out of turn, and returns when that sample was handed on. Any thread but the
  // sampler's own.
  void sample_now();

  // Waits for a reading that runs and the last one, for no interval. Any thread, more than once.
  void stop();

  // What reading took so far: its own share of the run is time over the run's.
  struct Cost {
    uint64_t num_samples = 0;
    std::chrono::nanoseconds cpu{0};   // of its thread
    std::chrono::nanoseconds wall{0};  // in reading
  };
  Cost cost() const;

 private:
  void run() noexcept;
  void take_sample();

  Sensors sensors_;
  const std::chrono::milliseconds interval_;
  const std::function<void(const Sample&)> use_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable served_;
  // Under mutex_:
  bool stop_ = false;
  uint64_t num_wanted_ = 0;  // calls of sample_now
  uint64_t num_served_ = 0;
  Cost cost_;
  std::once_flag joined_;
  std::thread thread_;
};

}  // namespace evener::telemetry
