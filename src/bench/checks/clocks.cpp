#include <fmt/format.h>
#include <time.h>

#include <chrono>

#include "bench/checks.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kTolerance = 50ms;
constexpr int64_t kSlewParts = 2000;  // 500 ppm

Nanoseconds read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

}  // namespace

ClockReading read_clocks() {
  return {.monotonic = read(CLOCK_MONOTONIC),
          .wall = read(CLOCK_REALTIME),
          .boot = read(CLOCK_BOOTTIME)};
}

std::optional<Finding> check_clocks(const ClockReading& before, const ClockReading& after) {
  const Nanoseconds passed = after.monotonic - before.monotonic;
  const Nanoseconds slept = after.boot - before.boot - passed;
  if (slept > kTolerance) {
    return Finding{.fault = Fault::clock_jumped,
                   .severity = Severity::voids,
                   .cell = "",
                   .request = "",
                   .detail = fmt::format("the machine slept for {:.1f} s", in_s(slept))};
  }
  const Nanoseconds apart = after.wall - before.wall - passed;
  if (std::chrono::abs(apart) > kTolerance + passed / kSlewParts) {
    return Finding{.fault = Fault::clock_jumped,
                   .severity = Severity::warning,
                   .cell = "",
                   .request = "",
                   .detail = fmt::format("the wall clock was set by {:+.3f} s", in_s(apart))};
  }
  return std::nullopt;
}

}  // namespace evener::bench
