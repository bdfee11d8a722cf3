#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/figures/make_record.h"
#include "bench/metrics.h"

// Every expected figure was worked out by hand from the times above it.

namespace evener::bench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

// Sent at 1000 ms, first token after 200 ms, then gaps of 20, 30, 50 and 1500 ms.
RequestRecord plain() { return make_record("c", 1000, {1200, 1220, 1250, 1300, 2800}); }

TEST(RequestFigures, FollowTheirFormulas) {
  auto figures = request_figures(plain());
  EXPECT_DOUBLE_EQ(figures.at("ttft_ms"), 200);
  EXPECT_DOUBLE_EQ(figures.at("prefill_tokens_per_s"), 500);  // 100 / 0.2 s
  EXPECT_DOUBLE_EQ(figures.at("ttst_ms"), 20);
  EXPECT_DOUBLE_EQ(figures.at("tpot_ms"), 400);  // 1600 / 4
  EXPECT_DOUBLE_EQ(figures.at("decode_whole_tokens_per_s"), 2.5);
  EXPECT_DOUBLE_EQ(figures.at("gap_max_ms"), 1500);
  EXPECT_DOUBLE_EQ(figures.at("num_gaps_over_1s"), 1);
  EXPECT_DOUBLE_EQ(figures.at("event_gap_p95_ms"), 1500);
  EXPECT_DOUBLE_EQ(figures.at("itl_p95_ms"), 1500);
  EXPECT_DOUBLE_EQ(figures.at("e2e_ms"), 1801);
  EXPECT_DOUBLE_EQ(figures.at("num_tokens_out"), 5);
  EXPECT_FALSE(figures.contains("decode_steady_tokens_per_s")) << "needs 128 tokens";
  EXPECT_FALSE(figures.contains("ttft_scheduled_ms")) << "had no time to be sent at";
  EXPECT_FALSE(figures.contains("queue_server_ms")) << "the server did not say";
  for (const auto& [key, value] : figures) EXPECT_NE(find_metric(key), nullptr) << key;
}

TEST(RequestFigures, OfAnOpenLoopCountFromTheScheduleToo) {
  RequestRecord r = plain();
  r.scheduled = at_ms(990);
  auto figures = request_figures(r);
  EXPECT_DOUBLE_EQ(figures.at("ttft_ms"), 200);
  EXPECT_DOUBLE_EQ(figures.at("ttft_scheduled_ms"), 210);
  EXPECT_DOUBLE_EQ(figures.at("sender_lag_ms"), 10);
}

TEST(RequestFigures, OfAPromptFromTheCacheCountWhatWasComputed) {
  RequestRecord r = plain();
  r.num_tokens_cached = 60;
  EXPECT_DOUBLE_EQ(request_figures(r).at("prefill_tokens_per_s"), 200);  // 40 / 0.2 s
  r.num_tokens_cached = std::nullopt;
  EXPECT_FALSE(request_figures(r).contains("prefill_tokens_per_s")) << "may have been cached";
  r.num_tokens_cached = 100;
  EXPECT_FALSE(request_figures(r).contains("prefill_tokens_per_s")) << "nothing was computed";
}

TEST(RequestFigures, KeepTheServersClocksApart) {
  RequestRecord r = plain();
  r.server.queue_ms = 3;
  r.server.prefill_ms = 50;
  r.server.decode_ms = 1000;
  auto figures = request_figures(r);
  EXPECT_DOUBLE_EQ(figures.at("queue_server_ms"), 3);
  EXPECT_DOUBLE_EQ(figures.at("prefill_server_tokens_per_s"), 2000);
  EXPECT_DOUBLE_EQ(figures.at("decode_server_tokens_per_s"), 5);
  EXPECT_DOUBLE_EQ(figures.at("prefill_tokens_per_s"), 500);
}

// Events of three tokens under speculation, 10 ms apart: the tokens of one event have no gap.
TEST(RequestFigures, OfEventsWithSeveralTokensTellTokensFromEvents) {
  RequestRecord r = make_record("c", 0, {100, 110, 120});
  for (OutputEvent& event : r.events) event.num_tokens = 3;
  r.num_tokens_out = 9;
  EXPECT_THAT(event_gaps_ms(r), ElementsAre(10, 10));
  EXPECT_THAT(token_gaps_ms(r), ElementsAre(0, 0, 10, 0, 0, 10, 0, 0));
  EXPECT_DOUBLE_EQ(request_figures(r).at("tpot_ms"), 2.5);  // 20 / 8
}

TEST(RequestFigures, NeverTakeEventsForTokens) {
  RequestRecord r = make_record("c", 0, {100, 110, 120});
  for (OutputEvent& event : r.events) event.num_tokens = 0;
  EXPECT_THAT(tokens_of_events(r), ElementsAre(1, 1, 1)) << "as many as the server counted";
  r.num_tokens_out = 4;
  EXPECT_THAT(tokens_of_events(r), IsEmpty());
  EXPECT_FALSE(request_figures(r).contains("itl_p95_ms"));
  r.finish = Finish::stop;
  EXPECT_THAT(tokens_of_events(r), ElementsAre(1, 1, 1)) << "the fourth was the stop token";
  r.num_tokens_out = std::nullopt;
  EXPECT_EQ(num_tokens_out(r), std::nullopt);
  EXPECT_FALSE(request_figures(r).contains("tpot_ms"));
  EXPECT_TRUE(request_figures(r).contains("ttft_ms"));
}

TEST(RequestFigures, DoNotBelieveMoreTokensThanAnAnswerCanHave) {
  RequestRecord r = make_record("c", 0, {100, 110});
  r.events[0].num_tokens = 4'000'000'000;
  EXPECT_THAT(token_gaps_ms(r), IsEmpty());
}

// 200 tokens: 100 ms each while the clocks rise, 10 ms each after the 40th (200 / 5).
TEST(RequestFigures, OfTheSteadyPartLeaveOutTheRamp) {
  std::vector<double> times;
  double time = 500;
  for (int i = 1; i <= 200; ++i) times.push_back(time += i <= 40 ? 100 : 10);
  const RequestRecord r = make_record("c", 0, times);
  EXPECT_NEAR(request_figures(r).at("decode_steady_tokens_per_s"), 100, 1e-9);
  EXPECT_NEAR(request_figures(r).at("decode_whole_tokens_per_s"), 199 / 5.5, 1e-9);

  times.resize(127);
  EXPECT_FALSE(request_figures(make_record("c", 0, times)).contains("decode_steady_tokens_per_s"));
}

TEST(RequestFigures, OfAWholeAnswerHaveNoFirstToken) {
  RequestRecord r = make_record("c", 0, {300});
  r.streamed = false;
  r.num_tokens_out = 50;
  auto figures = request_figures(r);
  EXPECT_FALSE(figures.contains("ttft_ms"));
  EXPECT_FALSE(figures.contains("tpot_ms"));
  EXPECT_DOUBLE_EQ(figures.at("e2e_ms"), 301);
  EXPECT_TRUE(is_sample(r));
}

TEST(RequestFigures, OfOneTokenHaveNoTimeBetweenTokens) {
  auto figures = request_figures(make_record("c", 0, {300}));
  EXPECT_DOUBLE_EQ(figures.at("ttft_ms"), 300);
  EXPECT_FALSE(figures.contains("tpot_ms"));
  EXPECT_FALSE(figures.contains("gap_max_ms"));
}

TEST(RequestFigures, OfACancelledAnswerHaveNoEnd) {
  RequestRecord r = plain();
  r.finish = Finish::cancelled;
  EXPECT_TRUE(is_sample(r));
  EXPECT_FALSE(request_figures(r).contains("e2e_ms"));
  EXPECT_FALSE(request_figures(r).contains("num_tokens_out"));
  EXPECT_DOUBLE_EQ(request_figures(r).at("gap_max_ms"), 1500);
}

TEST(IsSample, LeavesOutWhatFailedOrSaidNothing) {
  EXPECT_TRUE(is_sample(plain()));
  RequestRecord r = plain();
  r.excluded = true;
  EXPECT_FALSE(is_sample(r));
  for (const Finish finish : {Finish::error, Finish::timeout}) {
    r = plain();
    r.finish = finish;
    EXPECT_FALSE(is_sample(r));
  }
  EXPECT_FALSE(is_sample(make_record("c", 0, {})));
}

TEST(Metrics, HaveKeysOfTheirOwn) {
  std::set<std::string_view> keys;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_FALSE(metric.formula.empty()) << metric.key;
    EXPECT_EQ(find_metric(metric.key), &metric);
  }
  EXPECT_EQ(find_metric("ttft"), nullptr);
}

TEST(Goodput, JudgesEachRequestByAllLimits) {
  const std::vector<RequestRecord> requests = {
      make_record("c", 0, {100, 110, 120}),  // good
      make_record("c", 0, {300, 310, 320}),  // first token late
      make_record("c", 0, {100, 180, 190}),  // a gap of 80 ms, and slow with it
      make_record("c", 0, {100}),            // no time between tokens: by the others
  };
  const Limits limits = {.ttft_ms = 200, .tpot_ms = 15, .gap_max_ms = 50};
  const Goodput all = goodput(requests, limits, std::chrono::seconds(4));
  EXPECT_EQ(all.num_requests, 4);
  EXPECT_EQ(all.num_good, 2);
  EXPECT_DOUBLE_EQ(all.requests_per_s, 0.5);
  EXPECT_EQ(goodput(requests, {}, std::chrono::seconds(4)).num_good, 4);
  EXPECT_EQ(goodput(requests, {.e2e_ms = 101}, std::chrono::seconds(4)).num_good, 1);
  EXPECT_EQ(goodput(requests, {}, Nanoseconds(0)).requests_per_s, 0);
}

TEST(Goodput, CountsWhatFailedAsBadAndWhatIsUnknownToo) {
  RequestRecord failed = plain();
  failed.finish = Finish::error;
  RequestRecord warm_up = plain();
  warm_up.excluded = true;
  RequestRecord uncounted = plain();
  uncounted.num_tokens_out = std::nullopt;
  for (OutputEvent& event : uncounted.events) event.num_tokens = 0;
  const Goodput g =
      goodput(std::vector{failed, warm_up, uncounted}, {.tpot_ms = 1000}, std::chrono::seconds(1));
  EXPECT_EQ(g.num_requests, 2);
  EXPECT_EQ(g.num_good, 0);
}

TEST(Goodput, CountsTheTimeARequestWasSentLate) {
  RequestRecord r = make_record("c", 100, {200});
  r.scheduled = at_ms(0);
  EXPECT_EQ(goodput(std::vector{r}, {.ttft_ms = 150}, std::chrono::seconds(1)).num_good, 0);
  EXPECT_EQ(goodput(std::vector{r}, {.ttft_ms = 200}, std::chrono::seconds(1)).num_good, 1);
}

}  // namespace
}  // namespace evener::bench
