#include <gtest/gtest.h>

#include <functional>
#include <ostream>

#include "bench/checks.h"
#include "bench/checks/records.h"

// Goal: each rule of check_request, in pairs: a record that just sets it off, and one that just
// does not. Method: one change to a record without fault.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

Expectations strict_request(bool exact_prompts = true) {
  Expectations expected;
  expected.cold = true;
  expected.forced_length = true;
  expected.exact_prompts = exact_prompts;
  return expected;
}

const Expectations kStrictRequest = strict_request();

struct Pair {
  const char* name;
  Fault fault;
  Severity severity;
  std::function<void(RequestRecord&)> fires;
  std::function<void(RequestRecord&)> just_not;
  Expectations expected = kStrictRequest;
};

std::ostream& operator<<(std::ostream& out, const Pair& pair) { return out << pair.name; }

void fail(RequestRecord& r, Fault fault) {
  r.finish = fault == Fault::timed_out ? Finish::timeout : Finish::error;
  r.fault = fault;
  r.error = "connection reset by peer";
  r.num_tokens_in = r.num_tokens_out = r.num_tokens_cached = std::nullopt;
}

void nothing(RequestRecord&) {}

// Events of which the first `num` come in pairs: the second of a pair by the first one's read.
void pair_up(RequestRecord& r, size_t num) {
  for (size_t i = 1; i < num; i += 2) r.events[i].at = r.events[i - 1].at;
}

// All that come later, later by `time`.
void stall(RequestRecord& r, size_t index, Nanoseconds time) {
  for (size_t i = index; i < r.events.size(); ++i) r.events[i].at += time;
}

const Pair kPairs[] = {
    {"server_down", Fault::server_down, Severity::warning,
     [](auto& r) { fail(r, Fault::server_down); }, nothing},
    {"reset", Fault::reset, Severity::warning, [](auto& r) { fail(r, Fault::reset); }, nothing},
    {"refused", Fault::refused, Severity::warning, [](auto& r) { fail(r, Fault::refused); },
     nothing},
    {"http_error", Fault::http_error, Severity::warning,
     [](auto& r) { fail(r, Fault::http_error); }, nothing},
    {"error_event", Fault::error_event, Severity::warning,
     [](auto& r) { fail(r, Fault::error_event); }, nothing},
    {"timed_out", Fault::timed_out, Severity::warning, [](auto& r) { fail(r, Fault::timed_out); },
     [](auto& r) { r.finish = Finish::cancelled; }},
    {"truncated_stream", Fault::truncated_stream, Severity::warning,
     [](auto& r) { fail(r, Fault::truncated_stream); }, nothing},
    {"finish_without_done", Fault::truncated_stream, Severity::note,
     [](auto& r) { r.done_seen = false; }, nothing},
    {"empty_answer", Fault::empty_answer, Severity::warning, [](auto& r) { r.events.clear(); },
     [](auto& r) {
       r.events.resize(1);
       r.num_tokens_out = 1;
     }},
    {"malformed_event", Fault::malformed_event, Severity::warning,
     [](auto& r) { r.num_malformed_events = 1; }, [](auto& r) { r.num_empty_events = 3; }},
    {"no_usage", Fault::no_usage, Severity::warning, [](auto& r) { r.num_tokens_out.reset(); },
     [](auto& r) { r.num_tokens_reasoning.reset(); }},
    {"fewer_tokens_than_events", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.num_tokens_out = 62; }, [](auto& r) { r.num_tokens_out = 63; }},
    {"more_than_max_tokens", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.num_tokens_out = 65; }, [](auto& r) { r.num_tokens_out = 64; }},
    {"tool_events_are_no_tokens", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.num_tokens_out = 30; },
     [](auto& r) {
       r.num_tokens_out = 30;
       for (auto& event : r.events) event.channel = Channel::tool;
     }},
    {"prompt_of_nothing", Fault::wrong_usage, Severity::voids, [](auto& r) { r.num_tokens_in = 0; },
     nothing},
    {"more_cached_than_sent", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.num_tokens_cached = 101; }, [](auto& r) { r.num_tokens_cached = 100; }},
    {"more_reasoning_than_output", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.num_tokens_reasoning = 65; }, [](auto& r) { r.num_tokens_reasoning = 64; }},
    {"usage_disagreed", Fault::wrong_usage, Severity::voids,
     [](auto& r) { r.usage_disagreed = true; }, nothing},
    {"prompt_off_by_two", Fault::wrong_usage, Severity::warning,
     [](auto& r) { r.num_tokens_in = 98; }, [](auto& r) { r.num_tokens_in = 99; }},
    {"prompt_off_by_more_than_8_of_100", Fault::wrong_usage, Severity::warning,
     [](auto& r) { r.num_tokens_in = 109; }, [](auto& r) { r.num_tokens_in = 108; },
     strict_request(/*exact_prompts=*/false)},
    {"early_end", Fault::early_end, Severity::warning,
     [](auto& r) {
       r.num_tokens_out_wanted = 65;
       r.finish = Finish::stop;
     },
     [](auto& r) { r.num_tokens_out_wanted = 64; }},
    {"cached_prompt", Fault::cached_prompt, Severity::voids,
     [](auto& r) { r.num_tokens_cached = 33; }, nothing},
    {"cached_template", Fault::cached_prompt, Severity::note,
     [](auto& r) { r.num_tokens_cached = 32; }, nothing},
    {"cold_unproven", Fault::cold_unproven, Severity::warning,
     [](auto& r) { r.num_tokens_cached.reset(); }, nothing},
    {"merged_events", Fault::merged_events, Severity::warning, [](auto& r) { r.events.resize(57); },
     [](auto& r) { r.events.resize(58); }},
    {"merged_events_that_tell", Fault::merged_events, Severity::note,
     [](auto& r) {
       r.events.resize(32);
       for (auto& event : r.events) event.num_tokens = 2;
     },
     nothing},
    {"buffered_stream", Fault::buffered_stream, Severity::warning,
     [](auto& r) {
       for (size_t i = 1; i < 34; ++i) r.events[i].at = r.events[0].at;
     },
     [](auto& r) { pair_up(r, 64); }},
    {"all_in_one_read", Fault::buffered_stream, Severity::voids,
     [](auto& r) {
       for (auto& event : r.events) event.at = 2s;
     },
     [](auto& r) {
       r.events.resize(7);
       r.num_tokens_out = r.num_tokens_out_wanted = 7;
       for (auto& event : r.events) event.at = 2s;
     }},
    {"held_back_for_10_ms", Fault::buffered_stream, Severity::warning,
     [](auto& r) {
       for (size_t i = 0; i < r.events.size(); ++i) r.events[i].at = 2s + i / 8 * 10ms;
     },
     [](auto& r) {
       for (size_t i = 0; i < r.events.size(); ++i) r.events[i].at = 2s + i / 8 * 9ms;
     }},
    {"decoded_in_10_ms", Fault::buffered_stream, Severity::voids,
     [](auto& r) {
       for (auto& event : r.events) event.at = 2s;
       r.server.decode_ms = 10;
     },
     [](auto& r) {
       for (auto& event : r.events) event.at = 2s;
       r.server.decode_ms = 9.9;
     }},
    {"stall", Fault::stall, Severity::warning, [](auto& r) { stall(r, 40, 91ms); },
     [](auto& r) { stall(r, 40, 90ms); }},
    {"a_slow_server_has_long_gaps", Fault::stall, Severity::warning,
     [](auto& r) {
       for (size_t i = 0; i < r.events.size(); ++i) r.events[i].at = 1s + i * 200ms;
       stall(r, 40, 1801ms);
     },
     [](auto& r) {
       for (size_t i = 0; i < r.events.size(); ++i) r.events[i].at = 1s + i * 200ms;
       stall(r, 40, 1800ms);
     }},
    {"retried", Fault::retried, Severity::warning, [](auto& r) { r.attempt = 1; }, nothing},
};

class RequestChecks : public testing::TestWithParam<Pair> {};

TEST_P(RequestChecks, Fires) {
  RequestRecord record = good_record();
  GetParam().fires(record);
  const auto findings = check_request(record, GetParam().expected);
  const Finding* found = find(findings, GetParam().fault);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, GetParam().severity);
  EXPECT_EQ(found->cell, "cell");
  EXPECT_EQ(found->request, "user 1");
  EXPECT_FALSE(found->detail.empty());
}

TEST_P(RequestChecks, JustDoesNot) {
  RequestRecord record = good_record();
  GetParam().just_not(record);
  EXPECT_EQ(find(check_request(record, GetParam().expected), GetParam().fault), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Rules, RequestChecks, testing::ValuesIn(kPairs),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(RequestCheck, FindsNothingInAnAnswerWithoutFault) {
  EXPECT_TRUE(check_request(good_record(), kStrictRequest).empty());
}

TEST(RequestCheck, DoesNotJudgeWhatNobodyMeant) {
  RequestRecord record = good_record();
  record.num_tokens_out_wanted = 100;
  record.num_tokens_cached = 50;
  stall(record, 40, 5s);
  Expectations expected;
  expected.judge_stalls = false;
  EXPECT_TRUE(check_request(record, expected).empty());
}

TEST(RequestCheck, DoesNotJudgeAnAnswerThatWeCutShort) {
  RequestRecord record = good_record();
  record.finish = Finish::cancelled;
  record.done_seen = false;
  record.num_tokens_out.reset();
  EXPECT_TRUE(check_request(record, kStrictRequest).empty());
}

TEST(RequestCheck, TakesNoTimesFromAnAnswerThatIsNotStreamed) {
  RequestRecord record = good_record();
  record.streamed = false;
  record.events.resize(1);
  EXPECT_TRUE(check_request(record, kStrictRequest).empty());
}

TEST(RequestCheck, SaysWithFiguresWhatIsWrong) {
  RequestRecord record = good_record();
  record.num_tokens_out_wanted = 256;
  record.finish = Finish::stop;
  const auto findings = check_request(record, kStrictRequest);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].detail, "answered 64 of 256 tokens (finish_reason stop)");
}

}  // namespace
}  // namespace evener::bench
