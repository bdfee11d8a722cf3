#include "serve/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "base/version.h"

namespace evener::serve {
namespace {

struct TimeName {
  const char* name;
  const char* help;
};

// In the order of Metrics::Time.
constexpr std::array kTimeNames = {
    TimeName{"evener_time_to_first_token_seconds", "arrival of a request to its first token"},
    TimeName{"evener_inter_token_seconds", "time between two tokens of one sequence"},
    TimeName{"evener_request_seconds", "arrival of a request to its last token"},
    TimeName{"evener_queue_seconds", "time a request waited for its first step"},
    TimeName{"evener_prefill_seconds", "first step to first token"},
};

struct Sample {
  const char* name;
  const char* type;
  const char* help;
  double value;
};

void write(std::string& out, const Sample& sample) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", sample.name,
                 sample.help, sample.type, sample.value);
}

void head(std::string& out, const char* name, const char* type, const char* help) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

double ratio(size_t used, size_t total) {
  return total == 0 ? 0 : static_cast<double>(used) / static_cast<double>(total);
}

double number(auto count) { return static_cast<double>(count); }

double in_seconds(std::chrono::duration<double> time) { return time.count(); }

void write_all(std::string& out, std::span<const Sample> samples) {
  for (const Sample& sample : samples) write(out, sample);
}

void write_ranks(std::string& out, const engine::RanksReport& ranks) {
  write(out, {"evener_ranks", "gauge", "ranks that compute; 0 while none do",
              ranks.can_serve() ? number(ranks.ranks.size()) : 0});
  write(out, {"evener_rank_restarts_total", "counter", "times that failed ranks were made anew",
              number(ranks.num_restarts)});
  head(out, "evener_rank_failures_total", "counter", "failures of ranks by what they did");
  for (const auto& [failure, count] : ranks.failures) {
    fmt::format_to(std::back_inserter(out),
                   "evener_rank_failures_total{{rank=\"{}\",device=\"{}\",kind=\"{}\"}} {}\n",
                   failure.rank, escape_label(failure.device), failure.kind, count);
  }
  if (ranks.ranks.size() < 2) return;
  head(out, "evener_rank_heartbeat_age_seconds", "gauge",
       "time since a rank's last sign of life; long without work");
  for (size_t rank = 0; rank < ranks.ranks.size(); ++rank) {
    fmt::format_to(std::back_inserter(out),
                   "evener_rank_heartbeat_age_seconds{{rank=\"{}\",device=\"{}\"}} {}\n", rank,
                   escape_label(ranks.ranks[rank].device),
                   in_seconds(ranks.ranks[rank].silent_for));
  }
}

void write_engine(std::string& out, const engine::Stats& s) {
  const Sample samples[] = {
      {"evener_requests_running", "gauge", "sequences in the running batch", number(s.running)},
      {"evener_requests_waiting", "gauge", "sequences in the queue", number(s.waiting)},
      {"evener_tokens_waiting", "gauge", "tokens of the sequences in the queue",
       number(s.scheduler.tokens_waiting)},
      {"evener_sequences_total", "counter", "sequences taken by the engine", number(s.requests)},
      {"evener_sequences_refused_total", "counter",
       "sequences for which the queue had no place, or none in time", number(s.refused)},
      {"evener_sequences_cancelled_total", "counter", "sequences cancelled", number(s.cancelled)},
      {"evener_cancel_seconds_max", "gauge", "longest time from a cancellation to all being free",
       s.cancel_seconds_max},
      {"evener_retractions_total", "counter", "running sequences sent back to the queue",
       number(s.scheduler.num_retractions)},
      {"evener_prompt_tokens_total", "counter", "prompt tokens computed", number(s.prompt_tokens)},
      {"evener_generated_tokens_total", "counter", "tokens generated", number(s.generated_tokens)},
      {"evener_steps_total", "counter", "steps run", number(s.steps)},
      {"evener_step_seconds_total", "counter", "time spent in steps", s.step_seconds},
      {"evener_token_gap_seconds_max", "gauge", "longest time between two tokens of a sequence",
       in_seconds(s.scheduler.gap_max)},
      {"evener_decode_owed_seconds", "gauge", "time that prompts owe to running answers",
       in_seconds(s.scheduler.decode_owed)},
      {"llamacpp:prompt_tokens_total", "counter", "as evener_prompt_tokens_total",
       number(s.prompt_tokens)},
      {"llamacpp:tokens_predicted_total", "counter", "as evener_generated_tokens_total",
       number(s.generated_tokens)},
      {"llamacpp:requests_processing", "gauge", "as evener_requests_running", number(s.running)},
      {"llamacpp:requests_deferred", "gauge", "as evener_requests_waiting", number(s.waiting)},
      {"vllm:num_requests_running", "gauge", "as evener_requests_running", number(s.running)},
      {"vllm:num_requests_waiting", "gauge", "as evener_requests_waiting", number(s.waiting)},
      {"vllm:num_preemptions_total", "counter", "as evener_retractions_total",
       number(s.scheduler.num_retractions)},
      {"sglang:num_running_reqs", "gauge", "as evener_requests_running", number(s.running)},
      {"sglang:num_queue_reqs", "gauge", "as evener_requests_waiting", number(s.waiting)},
  };
  write_all(out, samples);
  if (!s.scheduler.gap_bound) return;
  write(out, {"evener_token_gap_bound_seconds", "gauge",
              "what evener_token_gap_seconds_max is "
              "claimed not to exceed",
              in_seconds(*s.scheduler.gap_bound)});
}

// used: by running sequences; kept: of ended ones, and makes room when it is needed.
void write_cache(std::string& out, const cache::CacheStats& c) {
  const size_t pages_used = c.pages_private + c.pages_shared;
  const double used_part = ratio(pages_used, c.num_pages);
  const Sample samples[] = {
      {"evener_kv_pages_total", "gauge", "pages of the KV pool", number(c.num_pages)},
      {"evener_kv_pages_used", "gauge", "of them, used by running sequences", number(pages_used)},
      {"evener_kv_pages_kept", "gauge", "of them, kept of sequences that have ended",
       number(c.pages_evictable)},
      {"evener_kv_pages_free", "gauge", "of them, empty", number(c.pages_free)},
      {"evener_state_slots_total", "gauge", "recurrent state slots", number(c.num_slots)},
      {"evener_state_slots_used", "gauge", "of them, of running sequences", number(c.slots_own)},
      {"evener_state_slots_kept", "gauge", "of them, snapshots", number(c.slots_snapshot)},
      {"evener_state_slots_free", "gauge", "of them, empty", number(c.slots_free)},
      {"evener_prefix_lookups_total", "counter", "prompts looked up", number(c.num_lookups)},
      {"evener_prefix_hits_total", "counter", "of them, found in part", number(c.num_hits)},
      {"evener_prefix_tokens_total", "counter", "tokens looked up", number(c.tokens_looked_up)},
      {"evener_prefix_tokens_matched_total", "counter", "of them, found computed",
       number(c.tokens_matched)},
      {"evener_pages_evicted_total", "counter", "pages given up", number(c.pages_evicted)},
      {"evener_snapshots_taken_total", "counter", "snapshots of a state",
       number(c.snapshots_taken)},
      {"evener_snapshots_evicted_total", "counter", "of them, given up",
       number(c.snapshots_evicted)},
      {"evener_pages_loaded_total", "counter", "pages loaded from the tiers",
       number(c.pages_loaded)},
      {"evener_states_loaded_total", "counter", "states loaded from the tiers",
       number(c.states_loaded)},
      {"llamacpp:kv_cache_usage_ratio", "gauge", "used part of the KV pool", used_part},
      {"vllm:gpu_cache_usage_perc", "gauge", "used part of the KV pool, 0 to 1", used_part},
      {"vllm:prefix_cache_queries_total", "counter", "as evener_prefix_tokens_total",
       number(c.tokens_looked_up)},
      {"vllm:prefix_cache_hits_total", "counter", "as evener_prefix_tokens_matched_total",
       number(c.tokens_matched)},
      {"sglang:token_usage", "gauge", "used part of the KV pool, 0 to 1", used_part},
  };
  write_all(out, samples);
}

void write_tiers(std::string& out, const cache::TierStats& t) {
  const Sample in_memory[] = {
      {"evener_tier_memory_entries", "gauge", "pages and states in the tier in memory",
       number(t.num_in_memory)},
      {"evener_tier_memory_bytes", "gauge", "their size", number(t.memory_bytes)},
      {"evener_tier_memory_hits_total", "counter", "loads it has answered",
       number(t.num_memory_hits)},
      {"evener_tier_misses_total", "counter", "loads that no tier has answered",
       number(t.num_misses)},
  };
  write_all(out, in_memory);
  if (!t.has_disk) return;
  const Sample on_disk[] = {
      {"evener_tier_disk_entries", "gauge", "pages and states in the tier on disk",
       number(t.disk.num_entries)},
      {"evener_tier_disk_bytes", "gauge", "size of all entries there", number(t.disk.bytes)},
      {"evener_tier_disk_hits_total", "counter", "loads it has answered", number(t.num_disk_hits)},
      {"evener_tier_disk_written_total", "counter", "entries written", number(t.disk.num_written)},
      {"evener_tier_disk_dropped_total", "counter", "entries not written, as too many waited",
       number(t.disk.num_dropped)},
      {"evener_tier_disk_evicted_total", "counter", "entries given up", number(t.disk.num_evicted)},
      {"evener_tier_disk_failed_reads_total", "counter", "entries damaged or vanished",
       number(t.disk.num_failed_reads)},
      {"evener_tier_disk_writes", "gauge", "1, or 0 once writing has failed",
       number(t.disk.writes)},
  };
  write_all(out, on_disk);
}

void write_labelled(std::string& out, const Sample& head, const char* label,
                    const std::map<std::string, uint64_t, std::less<>>& counts) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", head.name, head.help,
                 head.type);
  for (const auto& [value, count] : counts) {
    fmt::format_to(std::back_inserter(out), "{}{{{}=\"{}\"}} {}\n", head.name, label,
                   escape_label(value), count);
  }
}

}  // namespace

std::string escape_label(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

void Metrics::observe(Time which, Seconds time) {
  const std::lock_guard lock(mutex_);
  Histogram& histogram = times_[static_cast<size_t>(which)];
  const auto bound = std::ranges::lower_bound(kBounds, time.count());
  ++histogram.counts[static_cast<size_t>(bound - kBounds.begin())];
  histogram.sum += time.count();
}

void Metrics::count_request(std::string_view route, int status) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
}

void Metrics::count_error(const ApiError& error) {
  const std::lock_guard lock(mutex_);
  ++errors_[error.code];
}

void Metrics::count_cancellation(std::string_view phase, std::string_view reason) {
  const std::lock_guard lock(mutex_);
  ++cancellations_[{std::string(phase), std::string(reason)}];
}

void Metrics::count_match_end(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  ++match_ends_[std::string(reason)];
}

Metrics::Counts Metrics::counts(Time which) const {
  const std::lock_guard lock(mutex_);
  return times_[static_cast<size_t>(which)].counts;
}

void Metrics::write_histograms(std::string& out) const {
  for (size_t i = 0; i < kNumTimes; ++i) {
    const auto& [name, help] = kTimeNames[i];
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
    uint64_t count = 0;
    for (size_t bucket = 0; bucket < kBounds.size(); ++bucket) {
      count += times_[i].counts[bucket];
      fmt::format_to(std::back_inserter(out), "{}_bucket{{le=\"{}\"}} {}\n", name, kBounds[bucket],
                     count);
    }
    count += times_[i].counts.back();
    fmt::format_to(std::back_inserter(out),
                   "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, count,
                   times_[i].sum);
  }
}

void Metrics::write_counters(std::string& out) const {
  out +=
      "# HELP evener_http_requests_total requests answered\n# TYPE evener_http_requests_total "
      "counter\n";
  for (const auto& [key, count] : requests_) {
    fmt::format_to(std::back_inserter(out),
                   "evener_http_requests_total{{route=\"{}\",status=\"{}\"}} {}\n",
                   escape_label(key.first), key.second, count);
  }
  write_labelled(out, {"evener_errors_total", "counter", "error answers by code", 0}, "code",
                 errors_);
  write_labelled(out,
                 {"evener_prefix_match_ends_total", "counter",
                  "sequences by why no more of their prompt was found computed", 0},
                 "reason", match_ends_);
  out +=
      "# HELP evener_cancellations_total requests that ended before their answer did\n# TYPE "
      "evener_cancellations_total counter\n";
  for (const auto& [key, count] : cancellations_) {
    fmt::format_to(std::back_inserter(out),
                   "evener_cancellations_total{{phase=\"{}\",reason=\"{}\"}} {}\n", key.first,
                   key.second, count);
  }
}

namespace {

// Under the name by which all servers' libraries tell it.
void write_process(std::string& out) {
  std::ifstream file("/proc/self/statm");
  uint64_t pages_mapped = 0;
  uint64_t pages_resident = 0;
  if (!(file >> pages_mapped >> pages_resident)) return;
  write(out, {"process_resident_memory_bytes", "gauge", "resident memory of this process",
              number(pages_resident) * number(sysconf(_SC_PAGESIZE))});
}

}  // namespace

std::string Metrics::to_text(const engine::Stats* stats, const engine::ModelFacts* facts) const {
  const std::lock_guard lock(mutex_);
  std::string out = fmt::format(
      "# HELP evener_build_info version of this server\n# TYPE evener_build_info gauge\n"
      "evener_build_info{{version=\"{}\",commit=\"{}\"}} 1\n",
      escape_label(kVersion), escape_label(kCommit));
  if (facts) {
    fmt::format_to(
        std::back_inserter(out),
        "# HELP evener_model_info the loaded model\n# TYPE evener_model_info gauge\n"
        "evener_model_info{{id=\"{}\",family=\"{}\",quantisation=\"{}\",device=\"{}\"}} 1\n",
        escape_label(facts->id), escape_label(facts->family), escape_label(facts->quantisation),
        escape_label(facts->device));
  }
  if (stats) {
    write_engine(out, *stats);
    write_ranks(out, stats->ranks);
    write_cache(out, stats->cache);
    if (stats->tiers) write_tiers(out, *stats->tiers);
  }
  write_process(out);
  write_counters(out);
  write_histograms(out);
  return out;
}

}  // namespace evener::serve
