#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/text.h"
#include "bench/checks.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

constexpr size_t kEventsMin = 8;  // fewer tell nothing of how they are sent
constexpr size_t kGapsMin = 16;
constexpr uint64_t kTemplateTokens = 32;
constexpr milliseconds kStallMin{100};
constexpr milliseconds kHeldMin{10};
constexpr int kStallFactor = 10;

struct Judged {
  const RequestRecord& record;
  const Expectations& expected;
  std::vector<Finding>& findings;

  void add(Fault fault, Severity severity, std::string detail) const {
    findings.push_back({.fault = fault,
                        .severity = severity,
                        .cell = record.cell,
                        .request = record.label,
                        .detail = std::move(detail)});
  }
};

bool answered(const RequestRecord& r) {
  return r.finish == Finish::stop || r.finish == Finish::length || r.finish == Finish::tool_calls;
}

void check_failure(const Judged& j) {
  const RequestRecord& r = j.record;
  if (r.fault) {
    std::string detail = printable(r.error, 300);
    if (!r.events.empty()) detail += fmt::format(" (after {} events)", r.events.size());
    j.add(*r.fault, Severity::warning, std::move(detail));
  }
}

void check_stream_end(const Judged& j) {
  const RequestRecord& r = j.record;
  if (r.streamed && !r.done_seen) {
    j.add(Fault::truncated_stream, Severity::note, "a finish_reason came, but no [DONE]");
  }
  const bool is_silent = r.streamed || r.output_hash == 0;
  if (r.events.empty() && is_silent) {
    j.add(Fault::empty_answer, Severity::warning,
          fmt::format("status {}, no output and no error; {} tokens by its usage", r.http_status,
                      r.num_tokens_out ? std::to_string(*r.num_tokens_out) : "unknown"));
  }
}

void check_malformed(const Judged& j) {
  if (j.record.num_malformed_events == 0 || j.record.fault == Fault::malformed_event) return;
  j.add(Fault::malformed_event, Severity::warning,
        fmt::format("{} events were no JSON or no chunk", j.record.num_malformed_events));
}

size_t num_text_events(const RequestRecord& r) {
  return size_t(std::ranges::count_if(
      r.events, [](const OutputEvent& event) { return event.channel != Channel::tool; }));
}

// What contradicts itself; empty if nothing does.
std::string contradiction(const RequestRecord& r) {
  const uint64_t out = *r.num_tokens_out;
  const uint64_t in = *r.num_tokens_in;
  const size_t num_events = r.streamed ? num_text_events(r) : 0;
  if (num_events > 0 && out < num_events - 1) {
    return fmt::format("{} tokens counted, but {} events carried text", out, num_events);
  }
  if (out == 0 && !r.events.empty()) return "no token counted, but output came";
  if (r.num_tokens_out_wanted > 0 && out > r.num_tokens_out_wanted) {
    return fmt::format("{} tokens counted of at most {}", out, r.num_tokens_out_wanted);
  }
  if (in == 0) return "a prompt of 0 tokens counted";
  if (r.num_tokens_cached.value_or(0) > in) {
    return fmt::format("{} tokens cached of a prompt of {}", *r.num_tokens_cached, in);
  }
  if (r.num_tokens_reasoning.value_or(0) > out) {
    return fmt::format("{} tokens of reasoning of {} in all", *r.num_tokens_reasoning, out);
  }
  return r.usage_disagreed ? "the counts of one stream contradict each other" : "";
}

void check_usage(const Judged& j) {
  const RequestRecord& r = j.record;
  if (!r.num_tokens_in || !r.num_tokens_out) {
    j.add(Fault::no_usage, Severity::warning, "the server did not count the tokens");
    return;
  }
  std::string wrong = contradiction(r);
  if (!wrong.empty()) {
    j.add(Fault::wrong_usage, Severity::voids, std::move(wrong));
    return;
  }
  if (r.num_tokens_in_wanted == 0) return;
  const uint64_t in = *r.num_tokens_in;
  const uint64_t wanted = r.num_tokens_in_wanted;
  const uint64_t off = in > wanted ? in - wanted : wanted - in;
  const uint64_t allowed = j.expected.exact_prompts ? 1 : std::max<uint64_t>(8, wanted / 50);
  if (off > allowed) {
    j.add(Fault::wrong_usage, Severity::warning,
          fmt::format("a prompt of {} tokens counted, {} were sent", in, wanted));
  }
}

void check_length(const Judged& j) {
  const RequestRecord& r = j.record;
  if (!j.expected.forced_length || !r.num_tokens_out) return;
  if (*r.num_tokens_out >= r.num_tokens_out_wanted) return;
  j.add(Fault::early_end, Severity::warning,
        fmt::format("answered {} of {} tokens (finish_reason {})", *r.num_tokens_out,
                    r.num_tokens_out_wanted, r.finish == Finish::length ? "length" : "stop"));
}

void check_cold(const Judged& j) {
  const RequestRecord& r = j.record;
  if (!j.expected.cold) return;
  if (!r.num_tokens_cached) {
    j.add(Fault::cold_unproven, Severity::warning, "the server does not tell what it knew before");
  } else if (*r.num_tokens_cached > 0) {
    const bool of_template = *r.num_tokens_cached <= kTemplateTokens;
    j.add(Fault::cached_prompt, of_template ? Severity::note : Severity::voids,
          fmt::format("{} of {} prompt tokens were known from before", *r.num_tokens_cached,
                      r.num_tokens_in.value_or(0)));
  }
}

void check_merged(const Judged& j) {
  const RequestRecord& r = j.record;
  if (!r.num_tokens_out || r.events.empty()) return;
  const uint64_t out = *r.num_tokens_out;
  if (out < kEventsMin || double(r.events.size()) >= 0.9 * double(out)) return;
  const bool told =
      std::ranges::all_of(r.events, [](const OutputEvent& event) { return event.num_tokens > 0; });
  j.add(Fault::merged_events, told ? Severity::note : Severity::warning,
        fmt::format("{} tokens in {} events", out, r.events.size()));
}

// By the server's clock; unknown: for ever.
Nanoseconds decoding_time(const RequestRecord& r) {
  if (!r.server.decode_ms) return Nanoseconds::max();
  return std::chrono::duration_cast<Nanoseconds>(
      std::chrono::duration<double, std::milli>(std::clamp(*r.server.decode_ms, 0.0, 1e9)));
}

// A server that writes thousands of tokens a second fills a read by itself: that is no holding
// back.
void check_buffered(const Judged& j) {
  const auto& events = j.record.events;
  if (events.size() < kEventsMin) return;
  size_t num_reads = 0;
  size_t num_held = 0;  // that came with the one before, and may have lain for long
  Nanoseconds lain{0};  // at most, before the present read
  for (size_t i = 0; i < events.size(); ++i) {
    if (i == 0 || events[i].at != events[i - 1].at) {
      ++num_reads;
      lain = events[i].at - (i == 0 ? j.record.sent : events[i - 1].at);
    } else if (std::min(lain, decoding_time(j.record)) >= kHeldMin) {
      ++num_held;
    }
  }
  if (num_held * 2 <= events.size()) return;
  j.add(Fault::buffered_stream, num_reads == 1 ? Severity::voids : Severity::warning,
        fmt::format("{} events came in {} reads", events.size(), num_reads));
}

void check_stalls(const Judged& j) {
  if (!j.expected.judge_stalls) return;
  const auto& events = j.record.events;
  std::vector<Nanoseconds> gaps;
  for (size_t i = 1; i < events.size(); ++i) {
    if (events[i].at > events[i - 1].at) gaps.push_back(events[i].at - events[i - 1].at);
  }
  if (gaps.size() < kGapsMin) return;
  std::sort(gaps.begin(), gaps.end());
  const Nanoseconds usual = gaps[(gaps.size() * 9 + 9) / 10 - 1];
  const Nanoseconds limit = std::max<Nanoseconds>(kStallMin, usual * kStallFactor);
  const auto num_stalls = std::ranges::count_if(gaps, [&](Nanoseconds gap) { return gap > limit; });
  if (num_stalls == 0) return;
  j.add(Fault::stall, Severity::warning,
        fmt::format("{} of {} gaps over {:.0f} ms, the longest {:.0f} ms; nine in ten are below "
                    "{:.1f} ms",
                    num_stalls, gaps.size(), in_ms(limit), in_ms(gaps.back()), in_ms(usual)));
}

}  // namespace

std::vector<Finding> check_request(const RequestRecord& record, const Expectations& expected) {
  std::vector<Finding> findings;
  const Judged judged{record, expected, findings};
  check_failure(judged);
  if (answered(record)) {
    check_stream_end(judged);
    check_malformed(judged);
    if (!record.events.empty()) check_usage(judged);
    check_length(judged);
    check_cold(judged);
    if (record.streamed) {
      check_merged(judged);
      check_buffered(judged);
      check_stalls(judged);
    }
  }
  if (record.attempt > 0) {
    judged.add(Fault::retried, Severity::warning, fmt::format("try {}", record.attempt + 1));
  }
  return findings;
}

}  // namespace evener::bench
