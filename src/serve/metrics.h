#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "engine/engine.h"
#include "serve/api_error.h"

namespace evener::serve {

// What the server has seen, as Prometheus reads it. Any thread.
class Metrics {
 public:
  enum class Time {
    first_token,    // request's arrival to first token
    token_gap,      // between two tokens of one sequence
    whole_request,  // arrival to last token
    queue,
    prefill,
  };
  using Seconds = std::chrono::duration<double>;

  void observe(Time which, Seconds time);
  void count_request(std::string_view route, int status);
  void count_error(const ApiError& error);
  // phase: "template", "queue", "prefill" or "decode".
  void count_cancellation(std::string_view phase, std::string_view reason);
  void count_match_end(std::string_view reason);  // match_end_name()

  // Upper ends of a histogram's buckets, seconds; one more has what is above.
  static constexpr std::array kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,  0.25,
                                         0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0, 300.0};
  using Counts = std::array<uint64_t, kBounds.size() + 1>;  // of each bucket alone
  Counts counts(Time which) const;

  // The exposition text. `stats` and `facts` are null before a model is ready. Gauges and totals of
  // the engine come from `stats`; llamacpp:* and vllm:* names repeat those that dashboards read.
  std::string to_text(const engine::Stats* stats, const engine::ModelFacts* facts) const;

 private:
  static constexpr size_t kNumTimes = 5;
  struct Histogram {
    Counts counts{};
    double sum = 0;
  };

  void write_histograms(std::string& out) const;
  void write_counters(std::string& out) const;

  mutable std::mutex mutex_;
  std::array<Histogram, kNumTimes> times_{};
  std::map<std::pair<std::string, int>, uint64_t> requests_;
  std::map<std::string, uint64_t, std::less<>> errors_;
  std::map<std::pair<std::string, std::string>, uint64_t> cancellations_;  // by phase and reason
  std::map<std::string, uint64_t, std::less<>> match_ends_;
};

// `value` with \, " and newline escaped as label values need it.
std::string escape_label(std::string_view value);

}  // namespace evener::serve
