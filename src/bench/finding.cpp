#include "bench/finding.h"

#include <array>

namespace evener::bench {
namespace {

// In the order of Fault.
constexpr std::array<std::string_view, size_t(kLastFault) + 1> kWords = {
    "server_down",
    "refused",
    "http_error",
    "reset",
    "truncated_stream",
    "error_event",
    "malformed_event",
    "timed_out",
    "empty_answer",
    "no_usage",
    "wrong_usage",
    "early_end",
    "cached_prompt",
    "cold_unproven",
    "merged_events",
    "buffered_stream",
    "stall",
    "gaps_unexplained",
    "sender_late",
    "concurrency_missed",
    "retried",
    "too_few_samples",
    "clock_jumped",
    "clocks_moved",
    "thermal_drift",
    "swapped",
    "busy_machine",
    "card_idle",
    "wrong_answer",
    "memory_grew",
    "slowed_down",
    "interrupted",
    "recording_failed",
    "config_changed",
    "not_measured",
};

}  // namespace

std::string_view to_word(Fault fault) {
  return size_t(fault) < kWords.size() ? kWords[size_t(fault)] : std::string_view();
}

std::optional<Fault> fault_of(std::string_view word) {
  for (unsigned i = 0; i <= unsigned(kLastFault); ++i) {
    if (to_word(Fault(i)) == word) return Fault(i);
  }
  return std::nullopt;
}

}  // namespace evener::bench
