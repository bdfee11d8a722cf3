#include "bench/finding.h"

namespace evener::bench {

std::string_view to_word(Fault fault) {
  switch (fault) {
    case Fault::server_down:
      return "server_down";
    case Fault::refused:
      return "refused";
    case Fault::http_error:
      return "http_error";
    case Fault::reset:
      return "reset";
    case Fault::truncated_stream:
      return "truncated_stream";
    case Fault::error_event:
      return "error_event";
    case Fault::malformed_event:
      return "malformed_event";
    case Fault::timed_out:
      return "timed_out";
    case Fault::empty_answer:
      return "empty_answer";
    case Fault::no_usage:
      return "no_usage";
    case Fault::wrong_usage:
      return "wrong_usage";
    case Fault::early_end:
      return "early_end";
    case Fault::cached_prompt:
      return "cached_prompt";
    case Fault::cold_unproven:
      return "cold_unproven";
    case Fault::merged_events:
      return "merged_events";
    case Fault::buffered_stream:
      return "buffered_stream";
    case Fault::stall:
      return "stall";
    case Fault::gaps_unexplained:
      return "gaps_unexplained";
    case Fault::sender_late:
      return "sender_late";
    case Fault::concurrency_missed:
      return "concurrency_missed";
    case Fault::retried:
      return "retried";
    case Fault::too_few_samples:
      return "too_few_samples";
    case Fault::clock_jumped:
      return "clock_jumped";
    case Fault::clocks_moved:
      return "clocks_moved";
    case Fault::thermal_drift:
      return "thermal_drift";
    case Fault::swapped:
      return "swapped";
    case Fault::busy_machine:
      return "busy_machine";
    case Fault::card_idle:
      return "card_idle";
    case Fault::wrong_answer:
      return "wrong_answer";
    case Fault::memory_grew:
      return "memory_grew";
    case Fault::slowed_down:
      return "slowed_down";
    case Fault::interrupted:
      return "interrupted";
    case Fault::recording_failed:
      return "recording_failed";
    case Fault::config_changed:
      return "config_changed";
  }
  return "";
}

std::optional<Fault> fault_of(std::string_view word) {
  for (unsigned i = 0; i <= unsigned(kLastFault); ++i) {
    if (to_word(Fault(i)) == word) return Fault(i);
  }
  return std::nullopt;
}

}  // namespace evener::bench
