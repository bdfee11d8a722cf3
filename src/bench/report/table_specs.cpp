#include "bench/report/table_specs.h"

#include <iterator>

namespace evener::bench {
namespace {

using enum Statistic;

constexpr std::string_view kSweepKeys[] = {"num_tokens_in"};
constexpr ColumnSpec kSweep[] = {
    {"ttft_ms"},
    {"prefill_tokens_per_s"},
    {"decode_whole_tokens_per_s"},
    {"decode_steady_tokens_per_s"},
    {"cache_hit_share"},
    {"num_tokens_out"},
    {"gap_max_ms", max},
    {"energy_j_per_token"},
};

constexpr std::string_view kConcurrencyKeys[] = {"num_users", "num_tokens_in"};
constexpr ColumnSpec kConcurrency[] = {
    {"output_plateau_tokens_per_s"},
    {"output_tokens_per_s"},
    {"decode_whole_tokens_per_s"},
    {"ttft_ms"},
    {"ttft_ms", p95},
    {"queue_server_ms"},
    {"gap_max_ms", max},
    {"concurrency_achieved"},
    {"energy_j_per_token"},
};

constexpr std::string_view kLoadKeys[] = {"requests_per_s", "burstiness", "trace"};
constexpr ColumnSpec kLoad[] = {
    {"requests_per_s"},  {"ttft_scheduled_ms"},   {"ttft_scheduled_ms", p95}, {"tpot_ms", p95},
    {"gap_max_ms", p95}, {"output_tokens_per_s"}, {"sender_lag_ms", max},
};

constexpr std::string_view kStarvationKeys[] = {"num_tokens_attacker", "variant", "num_victims"};
constexpr ColumnSpec kStarvation[] = {
    {"gap_max_ms", max, is_victim},
    {"num_gaps_over_1s", max, is_victim},
    {"num_gaps_observed"},
    {"num_gaps_expected"},
    {"gap_expected_ms"},
    {"gap_attack_median_ms"},
    {"victim_alone_tokens_per_s"},
    {"victim_during_tokens_per_s"},
    {"speed_kept"},
    {"attacker_ttft_alone_ms"},
    {"attacker_ttft_contended_ms"},
    {"victim_ttft_alone_ms"},
    {"victim_ttft_queued_ms"},
    {"chunk_tokens"},
};

constexpr std::string_view kPrefixKeys[] = {"shape", "turn"};
constexpr ColumnSpec kPrefix[] = {
    {"ttft_ms"}, {"ttft_ms", p95}, {"cache_hit_share"}, {"num_tokens_in"}, {"num_tokens_cached"},
};

constexpr std::string_view kSpecKeys[] = {"text_kind", "sampling"};
constexpr ColumnSpec kSpec[] = {
    {"decode_whole_tokens_per_s"},
    {"decode_steady_tokens_per_s"},
    {"accept_rate"},
    {"accept_length"},
    {"event_gap_ms"},
    {"num_tokens_out"},
};

constexpr std::string_view kSoakKeys[] = {"window", "summary"};
constexpr ColumnSpec kSoak[] = {{"output_tokens_per_s"},
                                {"ttft_ms", p95},
                                {"gap_max_ms", max},
                                {"retention"},
                                {"server_memory_bytes", max}};

constexpr std::string_view kQualityKeys[] = {"task", "num_tokens_in", "depth"};
constexpr ColumnSpec kQuality[] = {{"score", Statistic::mean}, {"ttft_ms"}, {"num_tokens_out"}};

constexpr std::string_view kKernelKeys[] = {"what", "format",     "shape",  "num_rows",
                                            "isa",  "size_bytes", "threads"};
constexpr ColumnSpec kKernel[] = {{"bandwidth"}, {"operations"}};
constexpr std::string_view kLinkKeys[] = {"link", "size_bytes"};
constexpr ColumnSpec kLink[] = {{"bandwidth"}, {"latency"}, {"data_wrong", max}};

constexpr TableSpec kSpecs[] = {
    {"sweep", kSweepKeys, kSweep},
    {"concurrency", kConcurrencyKeys, kConcurrency},
    {"load", kLoadKeys, kLoad},
    {"starvation", kStarvationKeys, kStarvation},
    {"prefix", kPrefixKeys, kPrefix},
    {"spec", kSpecKeys, kSpec},
    {"soak", kSoakKeys, kSoak},
    {"quality", kQualityKeys, kQuality},
    {"coldstart", {}, {}},
    {"kernel", kKernelKeys, kKernel},
    {"link", kLinkKeys, kLink},
};

}  // namespace

const TableSpec* find_table_spec(std::string_view experiment) {
  for (const TableSpec& spec : kSpecs) {
    if (spec.experiment == experiment) return &spec;
  }
  return nullptr;
}

double pick(const Summary& summary, Statistic statistic) {
  switch (statistic) {
    case p95:
      return summary.p95;
    case Statistic::max:
      return summary.max;
    case mean:
      return summary.mean;
    case median:
      break;
  }
  return summary.p50;
}

bool is_victim(std::string_view label) {
  return label.starts_with("victim") && !label.ends_with("alone");
}

bool is_attacker(std::string_view label) {
  return label.starts_with("attacker") && !label.ends_with("alone");
}

}  // namespace evener::bench
