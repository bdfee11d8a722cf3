#include "serve/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

double ratio(size_t used, size_t total) {
  return total == 0 ? 0 : static_cast<double>(used) / static_cast<double>(total);
}

void write_engine(std::string& out, const engine::Stats& s) {
  const auto n = [](auto count) { return static_cast<double>(count); };
  const Sample samples[] = {
      {"evener_requests_running", "gauge", "sequences in the running batch", n(s.running)},
      {"evener_requests_waiting", "gauge", "sequences in the queue", n(s.waiting)},
      {"evener_kv_pages_used", "gauge", "pages of the KV pool in use", n(s.kv_pages_used)},
      {"evener_kv_pages_total", "gauge", "pages of the KV pool", n(s.kv_pages_total)},
      {"evener_state_slots_used", "gauge", "recurrent state slots in use", n(s.state_slots_used)},
      {"evener_state_slots_total", "gauge", "recurrent state slots", n(s.state_slots_total)},
      {"evener_sequences_total", "counter", "sequences taken by the engine", n(s.requests)},
      {"evener_prompt_tokens_total", "counter", "prompt tokens computed", n(s.prompt_tokens)},
      {"evener_generated_tokens_total", "counter", "tokens generated", n(s.generated_tokens)},
      {"evener_sequences_cancelled_total", "counter", "sequences cancelled", n(s.cancelled)},
      {"evener_steps_total", "counter", "steps run", n(s.steps)},
      {"evener_step_seconds_total", "counter", "time spent in steps", s.step_seconds},
      {"llamacpp:prompt_tokens_total", "counter", "as evener_prompt_tokens_total",
       n(s.prompt_tokens)},
      {"llamacpp:tokens_predicted_total", "counter", "as evener_generated_tokens_total",
       n(s.generated_tokens)},
      {"llamacpp:requests_processing", "gauge", "as evener_requests_running", n(s.running)},
      {"llamacpp:requests_deferred", "gauge", "as evener_requests_waiting", n(s.waiting)},
      {"llamacpp:kv_cache_usage_ratio", "gauge", "used part of the KV pool",
       ratio(s.kv_pages_used, s.kv_pages_total)},
      {"vllm:num_requests_running", "gauge", "as evener_requests_running", n(s.running)},
      {"vllm:num_requests_waiting", "gauge", "as evener_requests_waiting", n(s.waiting)},
      {"vllm:gpu_cache_usage_perc", "gauge", "used part of the KV pool, 0 to 1",
       ratio(s.kv_pages_used, s.kv_pages_total)},
  };
  for (const Sample& sample : samples) write(out, sample);
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

void Metrics::count_cancellation(std::string_view phase) {
  const std::lock_guard lock(mutex_);
  ++cancellations_[std::string(phase)];
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
  write_labelled(
      out, {"evener_cancellations_total", "counter", "requests whose client left, by phase", 0},
      "phase", cancellations_);
}

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
  if (stats) write_engine(out, *stats);
  write_counters(out);
  write_histograms(out);
  return out;
}

}  // namespace evener::serve
