#include "bench/metrics.h"

#include <algorithm>
#include <array>

namespace evener::bench {
namespace {

using enum Metric::Better;
using enum Metric::Scope;

constexpr auto kMetrics = std::to_array<Metric>({
    {"ttft_ms", "ms", "t_1 - t_send", lower, request},
    {"ttft_scheduled_ms", "ms", "t_1 - t_sched", lower, request},
    {"prefill_tokens_per_s", "tokens/s", "(n_in - n_cached) / TTFT, alone at the server", higher,
     request},
    {"prefill_server_tokens_per_s", "tokens/s", "(n_in - n_cached) / prefill time of the server",
     higher, request},
    {"queue_server_ms", "ms", "queue time of the server", lower, request},
    {"ttst_ms", "ms", "t_2 - t_1", lower, request},
    {"tpot_ms", "ms", "(t_last - t_1) / (n_out - 1)", lower, request},
    {"itl_ms", "ms", "gaps between tokens, pooled", lower, pooled},
    {"itl_p95_ms", "ms", "p95 of one request's gaps between tokens", lower, request},
    {"event_gap_ms", "ms", "t_i - t_(i-1), pooled", lower, pooled},
    {"event_gap_p95_ms", "ms", "p95 of one request's t_i - t_(i-1)", lower, request},
    {"gap_max_ms", "ms", "max of t_i - t_(i-1)", lower, request},
    {"num_gaps_over_1s", "", "number of t_i - t_(i-1) > 1 s", lower, request},
    {"decode_whole_tokens_per_s", "tokens/s", "(n_out - 1) / (t_last - t_1)", higher, request},
    {"decode_steady_tokens_per_s", "tokens/s",
     "tokens after token w / (t_last - t_w), w = max(32, n_out / 5), n_out >= 128", higher,
     request},
    {"decode_server_tokens_per_s", "tokens/s", "n_out / decode time of the server", higher,
     request},
    {"e2e_ms", "ms", "t_end - t_send", lower, request},
    {"sender_lag_ms", "ms", "t_send - t_sched", neither, request},
    {"num_tokens_in", "tokens", "n_in", neither, request},
    {"num_tokens_cached", "tokens", "n_cached", neither, request},
    {"num_tokens_out", "tokens", "n_out", neither, request},
    {"num_tokens_reasoning", "tokens", "n_reason", neither, request},
    {"output_tokens_per_s", "tokens/s", "sum n_out / (last t_end - first t_send)", higher, cell},
    {"output_plateau_tokens_per_s", "tokens/s", "tokens / window, while all users are served",
     higher, cell},
    {"total_tokens_per_s", "tokens/s", "(sum n_in + sum n_out) / (last t_end - first t_send)",
     higher, cell},
    {"requests_per_s", "1/s", "requests / (last t_end - first t_send)", higher, cell},
    {"concurrency_achieved", "", "integral of requests in flight / window", neither, cell},
    {"cache_hit_share", "", "sum n_cached / sum n_in", neither, cell},
    {"accept_rate", "", "sum accepted / sum drafted", higher, cell},
    {"accept_length", "tokens", "sum n_out / (sum n_out - sum accepted)", higher, cell},
    {"energy_j_per_token", "J/token", "energy / sum n_out", lower, cell},
});

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view key) {
  const auto* const found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) { return m.key == key; });
  return found == kMetrics.end() ? nullptr : found;
}

}  // namespace evener::bench
