#include "bench/metrics.h"

#include <algorithm>
#include <array>

namespace evener::bench {
namespace {

using enum Metric::Better;

constexpr auto kMetrics = std::to_array<Metric>({
    {"ttft_ms", "ms", "t_1 - t_send", lower},
    {"ttft_scheduled_ms", "ms", "t_1 - t_sched", lower},
    {"prefill_tokens_per_s", "tokens/s", "(n_in - n_cached) / TTFT, alone at the server", higher},
    {"prefill_server_tokens_per_s", "tokens/s", "(n_in - n_cached) / prefill time of the server",
     higher},
    {"queue_server_ms", "ms", "queue time of the server", lower},
    {"ttst_ms", "ms", "t_2 - t_1", lower},
    {"tpot_ms", "ms", "(t_last - t_1) / (n_out - 1)", lower},
    {"itl_ms", "ms", "gaps between tokens, pooled", lower},
    {"itl_p95_ms", "ms", "p95 of one request's gaps between tokens", lower},
    {"event_gap_ms", "ms", "t_i - t_(i-1), pooled", lower},
    {"event_gap_p95_ms", "ms", "p95 of one request's t_i - t_(i-1)", lower},
    {"gap_max_ms", "ms", "max of t_i - t_(i-1)", lower},
    {"num_gaps_over_1s", "", "number of t_i - t_(i-1) > 1 s", lower},
    {"decode_whole_tokens_per_s", "tokens/s", "(n_out - 1) / (t_last - t_1)", higher},
    {"decode_steady_tokens_per_s", "tokens/s",
     "tokens after token w / (t_last - t_w), w = max(32, n_out / 5), n_out >= 128", higher},
    {"decode_server_tokens_per_s", "tokens/s", "n_out / decode time of the server", higher},
    {"e2e_ms", "ms", "t_end - t_send", lower},
    {"sender_lag_ms", "ms", "t_send - t_sched", neither},
    {"num_tokens_in", "tokens", "n_in", neither},
    {"num_tokens_cached", "tokens", "n_cached", neither},
    {"num_tokens_out", "tokens", "n_out", neither},
    {"num_tokens_reasoning", "tokens", "n_reason", neither},
    {"output_tokens_per_s", "tokens/s", "sum n_out / (last t_end - first t_send)", higher},
    {"output_plateau_tokens_per_s", "tokens/s", "tokens / window, while all users are served",
     higher},
    {"total_tokens_per_s", "tokens/s", "(sum n_in + sum n_out) / (last t_end - first t_send)",
     higher},
    {"requests_per_s", "1/s", "requests / (last t_end - first t_send)", higher},
    {"concurrency_achieved", "", "integral of requests in flight / window", neither},
    {"cache_hit_share", "", "sum n_cached / sum n_in", neither},
    {"accept_rate", "", "sum accepted / sum drafted", higher},
    {"accept_length", "tokens", "sum n_out / (sum n_out - sum accepted)", higher},
    {"energy_j_per_token", "J/token", "energy / sum n_out", lower},
});

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view key) {
  const auto* const found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) { return m.key == key; });
  return found == kMetrics.end() ? nullptr : found;
}

}  // namespace evener::bench
