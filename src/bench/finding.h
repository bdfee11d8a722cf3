#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What is wrong with a measurement, by name. A report shows all of them; one that voids takes the
// cell out of every table of results.
// Source: reference/serving/bench.md, 1, 3 and 8; seed-facts.md, 7.

namespace evener::bench {

enum class Fault : uint8_t {
  server_down,       // no connection
  refused,           // 401, 403, 404: wrong key, wrong model name
  http_error,        // any other status that is none of 200
  reset,             // the connection ended inside an answer
  truncated_stream,  // ended without [DONE] or finish_reason
  error_event,       // the server said so inside the stream
  malformed_event,   // an event that is no JSON or no chunk
  timed_out,
  empty_answer,   // 200, no token, no error
  no_usage,       // tokens were not counted by the server
  wrong_usage,    // usage contradicts the stream or what was asked (fewer tokens than events, more
                  // than max_tokens, a prompt of another size)
  early_end,      // finished before the forced length
  cached_prompt,  // a cold prompt was answered from the cache
  cold_unproven,  // the server does not say what was cached
  merged_events,  // several tokens an event: gaps between tokens are not visible
  buffered_stream,     // events came in bursts from one read: a proxy or the server holds them back
  stall,               // a gap far beyond the others
  gaps_unexplained,    // number or length of stalls does not fit the formula
  sender_late,         // the client was the bottleneck
  concurrency_missed,  // fewer in flight than asked for
  retried,             // a request was sent again
  too_few_samples,
  clock_jumped,  // wall clock and monotonic clock went apart, or the machine slept
  clocks_moved,  // a processor's or card's clock or cap changed, or it throttled
  thermal_drift,
  swapped,           // the machine swapped
  busy_machine,      // something else took the processors
  card_idle,         // a card that should work did not
  wrong_answer,      // quality
  memory_grew,       // soak
  slowed_down,       // soak: speed not kept
  interrupted,       // Ctrl-C: what was done is kept
  recording_failed,  // disk full: what was recorded is kept
  config_changed,    // the server is not the one of the run's start: another process, other flags
  not_measured,      // asked for, but the server or the machine does not offer it
};

enum class Severity : uint8_t { note, warning, voids };

// "early_end": stable, for stores and for readers of the appendix.
std::string_view to_word(Fault fault);
std::optional<Fault> fault_of(std::string_view word);

inline constexpr Fault kLastFault = Fault::not_measured;

struct Finding {
  Fault fault = Fault::server_down;
  Severity severity = Severity::warning;
  std::string cell;     // empty: the whole run
  std::string request;  // label of the request, if it is about one
  std::string detail;   // with the figures: "answered 12 of 256 tokens (finish_reason stop)"
};

}  // namespace evener::bench
