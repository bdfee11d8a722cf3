#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cell.h"
#include "bench/record.h"
#include "bench/statistics.h"

// Figures from records, by formula. Source: reference/serving/bench.md, 2.

namespace evener::bench {

// A figure that tables and comparisons know.
struct Metric {
  std::string_view key;      // "ttft_ms": stable, in stores and appendices
  std::string_view unit;     // "ms", "tokens/s"
  std::string_view formula;  // printed beside the column: "(n_out - 1) / (t_last - t_1)"
  enum class Better : uint8_t { lower, higher, neither } better;
  // One sample a request; all gaps of all requests; one of a cell.
  enum class Scope : uint8_t { request, pooled, cell } scope;
};
// One sample a request:
//   ttft_ms, ttft_scheduled_ms, prefill_tokens_per_s, tpot_ms, ttst_ms, decode_whole_tokens_per_s,
//   decode_steady_tokens_per_s, decode_server_tokens_per_s, prefill_server_tokens_per_s,
//   queue_server_ms, event_gap_p95_ms, itl_p95_ms, gap_max_ms, num_gaps_over_1s, e2e_ms,
//   sender_lag_ms, num_tokens_in, num_tokens_cached, num_tokens_out, num_tokens_reasoning
// Pooled over the requests of a cell: event_gap_ms, itl_ms.
// One of a cell: output_tokens_per_s, output_plateau_tokens_per_s, total_tokens_per_s,
//   concurrency_achieved, cache_hit_share, requests_per_s, accept_rate, accept_length,
//   energy_j_per_token.
std::span<const Metric> metrics();
const Metric* find_metric(std::string_view key);

// Whether a request is in its cell's figures: neither excluded nor failed (error, timeout) nor
// answered with nothing.
bool is_sample(const RequestRecord& record);

// By the server's usage; where it gives none, the sum of the events' tokens if every event has a
// count. Never by the number of events.
std::optional<uint64_t> num_tokens_out(const RequestRecord& record);

// Tokens of each event: as the server says, or one each if there are as many events as tokens (one
// fewer if a stop token, which has no text, ended the answer). Empty if not known.
std::vector<uint32_t> tokens_of_events(const RequestRecord& record);

// The figures of one request; absent where the formula does not apply (no stream, one token, no
// usage, cached tokens unknown). A cancelled one has no end-to-end time and no count of tokens out.
std::map<std::string_view, double> request_figures(const RequestRecord& record);

// Times between events after the first one, in ms, in order: what a reader feels.
std::vector<double> event_gaps_ms(const RequestRecord& record);
// Times between tokens: a gap of 0 for each further token of an event. Empty if tokens of events
// are not known.
std::vector<double> token_gaps_ms(const RequestRecord& record);

// The part that a request has in its cell, without numbers: "user 3, turn 2" -> "user".
std::string_view role_of(std::string_view label);

// All samples of a cell: per-request ones over its requests that are samples, in order of their
// sending (with `role`: only those of it), gaps pooled, the cell's own, and its values under their
// keys (but those that its requests give). `requests` and `values` may hold those of other cells.
// The plateau is that of target "num_users". The prefill rate is left out for requests that waited
// beside others. The window is from the first request's sending to the last one's end, failed ones
// too. Energy is the sum of values "energy_j".
using CellSamples = std::map<std::string, std::vector<double>, std::less<>>;
CellSamples cell_samples(const CellRecord& cell, std::span<const RequestRecord> requests,
                         std::span<const Value> values,
                         std::optional<std::string_view> role = std::nullopt);

// The samples of each key, summarised: all figures of a cell.
using CellFigures = std::map<std::string, Summary, std::less<>>;
const Summary* find_figure(const CellFigures& figures, std::string_view key);  // null: no sample
CellFigures cell_figures(const CellRecord& cell, std::span<const RequestRecord> requests,
                         std::span<const Value> values);

struct Limits {
  std::optional<double> ttft_ms = {};
  std::optional<double> tpot_ms = {};
  std::optional<double> gap_max_ms = {};
  std::optional<double> e2e_ms = {};
};
struct Goodput {
  uint64_t num_good = 0;
  uint64_t num_requests = 0;
  double requests_per_s = 0;  // good ones in the window
};
// Requests, but excluded ones, that meet every limit that is set. Failed ones and those whose
// figure is not known do not; one of fewer than two tokens is judged by the other limits. Where a
// request had a time at which it should have been sent, ttft and e2e count from there.
Goodput goodput(std::span<const RequestRecord> requests, const Limits& limits, Nanoseconds window);

}  // namespace evener::bench
