#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/finding.h"

// What was seen of one request: raw, so that every figure of a report can be worked out again.
// Source: reference/serving/bench.md, 1.

namespace evener::bench {

using Clock = std::chrono::steady_clock;
// On the client's monotonic clock, since the start of the run.
using Nanoseconds = std::chrono::nanoseconds;
inline double in_s(Nanoseconds time) { return double(time.count()) / 1e9; }
inline double in_ms(Nanoseconds time) { return double(time.count()) / 1e6; }

enum class Channel : uint8_t { reasoning, content, tool };

enum class Finish : uint8_t {
  stop,
  length,
  tool_calls,
  error,  // an HTTP status that is none of 200, an error event, a reset, an end without its mark
  cancelled,  // by us
  timeout,    // our patience was over
};

// An event with a non-empty delta in some channel. Role-only and empty chunks, comments and the
// chunk that only carries usage are none (but see RequestRecord::num_empty_events).
struct OutputEvent {
  Nanoseconds at;           // when the socket read that completed it returned
  uint32_t num_tokens = 0;  // 0: the server does not say how many are in it
  uint32_t num_bytes = 0;   // of text
  Channel channel = Channel::content;
  bool operator==(const OutputEvent&) const = default;
};

// The server's own clocks, where it tells them (Evener and llama.cpp: "timings"). Never mixed with
// the client's.
struct ServerTimes {
  std::optional<double> queue_ms;
  std::optional<double> prefill_ms;
  std::optional<double> decode_ms;
  std::optional<double> gap_max_ms;
  std::optional<uint64_t> num_drafted;  // speculation: tokens proposed and taken
  std::optional<uint64_t> num_accepted;
  bool operator==(const ServerTimes&) const = default;
};

struct RequestRecord {
  // What was asked.
  std::string cell;       // key of the cell it belongs to: "sweep/8192/2"; see CellRecord
  std::string label;      // its part in the cell: "warm-up", "victim", "attacker", "user 3, turn 2"
  bool excluded = false;  // warm-up and the like: recorded, in no figure
  uint32_t attempt = 0;   // 1 is the first retry; every try has a record of its own
  uint64_t prompt_hash = 0;  // xxh64 of the body's messages or prompt: tells A and B the same
  uint32_t num_tokens_in_wanted = 0;   // 0: not aimed at
  uint32_t num_tokens_out_wanted = 0;  // 0: as long as the server likes
  bool streamed = true;

  // What came.
  std::optional<Nanoseconds> scheduled;  // open loop: when it should have been sent
  Nanoseconds sent{0};                   // first byte of the request handed to the socket
  std::optional<Nanoseconds> header;     // response headers complete
  std::vector<OutputEvent> events;
  Nanoseconds ended{0};  // the stream's end, the error or our close
  int http_status = 0;   // 0: none came
  uint32_t num_empty_events = 0;
  bool done_seen = false;  // "[DONE]", or the whole body of an answer that is not streamed
  std::string request_id;  // the server's "id"
  Finish finish = Finish::error;
  // What ended it, if finish is error or timeout: server_down (no connection, TLS), refused,
  // http_error, reset, truncated_stream, error_event, malformed_event, timed_out. The same in
  // words.
  std::optional<Fault> fault;
  std::string error;
  // Events that were no JSON or no chunk. The stream goes on after one; only an answer of nothing
  // else ends with that fault.
  uint32_t num_malformed_events = 0;
  bool usage_disagreed = false;  // given twice: another prompt size, or fewer tokens than before

  // Counts by the server's usage; absent where it gives none.
  std::optional<uint64_t> num_tokens_in;
  std::optional<uint64_t> num_tokens_cached;
  std::optional<uint64_t> num_tokens_out;
  std::optional<uint64_t> num_tokens_reasoning;
  ServerTimes server;

  uint64_t output_hash = 0;  // xxh64 of the text of all channels in their order; 0: none came
  std::string text;          // the answer's content, where the experiment judges it; else empty
  std::string tool_calls;    // JSON array as assembled from the deltas; empty if there were none
};

}  // namespace evener::bench
