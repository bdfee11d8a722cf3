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
};
// ttft_ms, ttft_scheduled_ms, prefill_tokens_per_s, itl_ms, event_gap_ms, tpot_ms, ttst_ms,
// decode_whole_tokens_per_s, decode_steady_tokens_per_s, decode_server_tokens_per_s,
// prefill_server_tokens_per_s, queue_server_ms, gap_max_ms, num_gaps_over_1s, e2e_ms,
// sender_lag_ms, num_tokens_in, num_tokens_cached, num_tokens_out (one sample a request), and of a
// whole cell: output_tokens_per_s, output_plateau_tokens_per_s, total_tokens_per_s,
// concurrency_achieved, cache_hit_share, requests_per_s, accept_rate, accept_length,
// energy_j_per_token.
std::span<const Metric> metrics();
const Metric* find_metric(std::string_view key);

// The figures of one request; absent where the formula does not apply (no stream, one token, no
// usage, cached tokens unknown).
std::map<std::string_view, double> request_figures(const RequestRecord& record);

// Times between events after the first one, in ms, in order. With per-token counts (num_tokens) a
// gap of 0 for each further token of an event belongs to the other list.
std::vector<double> event_gaps_ms(const RequestRecord& record);
std::vector<double> token_gaps_ms(
    const RequestRecord& record);  // empty if tokens an event are unknown

// All figures of a cell: per-request ones over its requests (those excluded or failed left out),
// gaps pooled, the cell's own, and its values under their keys.
using CellFigures = std::map<std::string, Summary, std::less<>>;
CellFigures cell_figures(const CellRecord& cell, std::span<const RequestRecord> requests,
                         std::span<const Value> values);

// Share of requests that meet every limit that is set, and how many a second that is. A request of
// fewer than two tokens is judged by the other limits.
struct Limits {
  std::optional<double> ttft_ms;
  std::optional<double> tpot_ms;
  std::optional<double> gap_max_ms;
  std::optional<double> e2e_ms;
};
struct Goodput {
  uint64_t num_good = 0;
  uint64_t num_requests = 0;
  double requests_per_s = 0;  // good ones in the window
};
Goodput goodput(std::span<const RequestRecord> requests, const Limits& limits, Nanoseconds window);

}  // namespace evener::bench
