#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/metrics.h"

namespace evener::bench {
namespace {

constexpr uint64_t kTokensForSteady = 128;
constexpr uint64_t kRampTokensMin = 32;
constexpr double kLongGapMs = 1000;
constexpr uint64_t kTokensMax = 1 << 22;  // no answer is longer: a count above is not believed

class Figures {
 public:
  // What is no finite number comes of a division by a time of zero: no figure.
  void add(std::string_view key, double value) {
    if (std::isfinite(value)) figures_[key] = value;
  }
  void add(std::string_view key, std::optional<double> value) {
    if (value) add(key, *value);
  }
  void add(std::string_view key, std::optional<uint64_t> count) {
    if (count) add(key, double(*count));
  }
  std::map<std::string_view, double> take() { return std::move(figures_); }

 private:
  std::map<std::string_view, double> figures_;
};

// Prompt tokens that the server had to compute.
std::optional<double> tokens_computed(const RequestRecord& r) {
  if (!r.num_tokens_in || !r.num_tokens_cached) return std::nullopt;
  if (*r.num_tokens_cached >= *r.num_tokens_in) return std::nullopt;
  return double(*r.num_tokens_in - *r.num_tokens_cached);
}

double p95_of(std::vector<double> gaps) {
  std::sort(gaps.begin(), gaps.end());
  return percentile(gaps, 0.95);
}

// Tokens behind the ramp, over their time.
std::optional<double> steady_rate(const RequestRecord& r) {
  const std::vector<uint32_t> tokens = tokens_of_events(r);
  const uint64_t all = std::accumulate(tokens.begin(), tokens.end(), uint64_t{0});
  if (all < kTokensForSteady) return std::nullopt;
  const uint64_t ramp = std::max(kRampTokensMin, all / 5);
  uint64_t reached = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    reached += tokens[i];
    if (reached < ramp) continue;
    const Nanoseconds time = r.events.back().at - r.events[i].at;
    if (time <= Nanoseconds::zero()) return std::nullopt;
    return double(all - reached) / in_s(time);
  }
  return std::nullopt;
}

void add_stream_figures(const RequestRecord& r, Figures& out) {
  const Nanoseconds first = r.events.front().at;
  const Nanoseconds last = r.events.back().at;
  out.add("ttft_ms", in_ms(first - r.sent));
  if (r.scheduled) out.add("ttft_scheduled_ms", in_ms(first - *r.scheduled));
  if (const auto computed = tokens_computed(r); computed && first > r.sent) {
    out.add("prefill_tokens_per_s", *computed / in_s(first - r.sent));
  }

  const std::optional<uint64_t> tokens = num_tokens_out(r);
  if (tokens && *tokens >= 2 && last > first) {
    out.add("tpot_ms", in_ms(last - first) / double(*tokens - 1));
    out.add("decode_whole_tokens_per_s", double(*tokens - 1) / in_s(last - first));
  }
  out.add("decode_steady_tokens_per_s", steady_rate(r));

  const std::vector<double> gaps = event_gaps_ms(r);
  if (gaps.empty()) return;
  out.add("ttst_ms", gaps.front());
  out.add("gap_max_ms", *std::max_element(gaps.begin(), gaps.end()));
  out.add("num_gaps_over_1s", double(std::count_if(gaps.begin(), gaps.end(),
                                                   [](double gap) { return gap > kLongGapMs; })));
  out.add("event_gap_p95_ms", p95_of(gaps));
  if (std::vector<double> token_gaps = token_gaps_ms(r); !token_gaps.empty()) {
    out.add("itl_p95_ms", p95_of(std::move(token_gaps)));
  }
}

void add_server_figures(const RequestRecord& r, Figures& out) {
  out.add("queue_server_ms", r.server.queue_ms);
  if (const auto computed = tokens_computed(r); computed && r.server.prefill_ms.value_or(0) > 0) {
    out.add("prefill_server_tokens_per_s", *computed * 1000 / *r.server.prefill_ms);
  }
  if (const auto tokens = num_tokens_out(r); tokens && r.server.decode_ms.value_or(0) > 0) {
    out.add("decode_server_tokens_per_s", double(*tokens) * 1000 / *r.server.decode_ms);
  }
}

}  // namespace

bool is_sample(const RequestRecord& r) {
  if (r.excluded || r.finish == Finish::error || r.finish == Finish::timeout) return false;
  return !r.events.empty() || (!r.streamed && r.num_tokens_out.value_or(0) > 0);
}

std::optional<uint64_t> num_tokens_out(const RequestRecord& r) {
  if (r.num_tokens_out) return r.num_tokens_out;
  if (r.events.empty()) return std::nullopt;
  uint64_t sum = 0;
  for (const OutputEvent& event : r.events) {
    if (event.num_tokens == 0) return std::nullopt;
    sum += event.num_tokens;
  }
  return sum;
}

std::vector<uint32_t> tokens_of_events(const RequestRecord& r) {
  if (!r.streamed || r.events.empty()) return {};
  std::vector<uint32_t> out;
  uint64_t sum = 0;
  for (const OutputEvent& event : r.events) {
    out.push_back(event.num_tokens);
    sum += event.num_tokens;
  }
  if (sum > kTokensMax) return {};
  if (std::find(out.begin(), out.end(), 0u) == out.end()) return out;

  const uint64_t tokens = r.num_tokens_out.value_or(0);
  const uint64_t events = r.events.size();
  const bool one_each = tokens == events || (r.finish == Finish::stop && tokens == events + 1);
  if (!one_each) return {};
  out.assign(r.events.size(), 1);
  return out;
}

std::vector<double> event_gaps_ms(const RequestRecord& r) {
  std::vector<double> gaps;
  if (!r.streamed) return gaps;
  for (size_t i = 1; i < r.events.size(); ++i) {
    gaps.push_back(in_ms(r.events[i].at - r.events[i - 1].at));
  }
  return gaps;
}

std::vector<double> token_gaps_ms(const RequestRecord& r) {
  const std::vector<uint32_t> tokens = tokens_of_events(r);
  std::vector<double> gaps;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) gaps.push_back(in_ms(r.events[i].at - r.events[i - 1].at));
    gaps.insert(gaps.end(), tokens[i] - 1, 0.0);
  }
  return gaps;
}

std::map<std::string_view, double> request_figures(const RequestRecord& r) {
  Figures out;
  if (r.streamed && !r.events.empty()) add_stream_figures(r, out);
  add_server_figures(r, out);
  if (r.scheduled) out.add("sender_lag_ms", in_ms(r.sent - *r.scheduled));
  out.add("num_tokens_in", r.num_tokens_in);
  out.add("num_tokens_cached", r.num_tokens_cached);
  if (r.finish != Finish::cancelled) {
    out.add("e2e_ms", in_ms(r.ended - r.sent));
    out.add("num_tokens_out", num_tokens_out(r));
    out.add("num_tokens_reasoning", r.num_tokens_reasoning);
  }
  return out.take();
}

namespace {

bool meets(const RequestRecord& r, const Limits& limits) {
  if (!is_sample(r) || r.finish == Finish::cancelled) return false;
  std::map<std::string_view, double> figures = request_figures(r);
  const double late_ms = r.scheduled ? in_ms(r.sent - *r.scheduled) : 0;
  const auto within = [&](std::optional<double> limit, std::string_view key, double offset) {
    if (!limit) return true;
    const auto found = figures.find(key);
    return found != figures.end() && found->second + offset <= *limit;
  };
  const bool has_tpot = num_tokens_out(r).value_or(2) >= 2;
  const bool has_gaps = r.events.size() >= 2;
  return within(limits.ttft_ms, "ttft_ms", late_ms) && within(limits.e2e_ms, "e2e_ms", late_ms) &&
         (!has_tpot || within(limits.tpot_ms, "tpot_ms", 0)) &&
         (!has_gaps || within(limits.gap_max_ms, "gap_max_ms", 0));
}

}  // namespace

Goodput goodput(std::span<const RequestRecord> requests, const Limits& limits, Nanoseconds window) {
  Goodput out;
  for (const RequestRecord& r : requests) {
    if (r.excluded) continue;
    ++out.num_requests;
    if (meets(r, limits)) ++out.num_good;
  }
  if (window > Nanoseconds::zero()) out.requests_per_s = double(out.num_good) / in_s(window);
  return out;
}

}  // namespace evener::bench
