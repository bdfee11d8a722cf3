#include "bench/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "bench/load/in_flight.h"

// The shapes of load against a client in virtual time, which does all on the caller's thread.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

RequestRecord record_of(Nanoseconds sent, Nanoseconds ended, Finish finish) {
  RequestRecord record;
  record.sent = sent;
  record.ended = ended;
  record.finish = finish;
  return record;
}

// Ends the request that runs longest whenever `num_held` are under way, a second after the last
// thing that happened.
class FakeClient final : public Client {
 public:
  explicit FakeClient(size_t num_held) : num_held_(num_held) {}

  RequestNumber start(RequestPlan plan, Observer observer) override {
    const RequestNumber number = ++num_started_;
    if (plan.scheduled) scheduled_.push_back(*plan.scheduled);
    if (observer.on_due && !observer.on_due()) {
      observer.on_end(record_of(0ns, 0ns, Finish::cancelled));
    } else {
      now_ += 1s;
      running_[number] = {.label = plan.label, .sent = now_, .observer = std::move(observer)};
      num_running_max_ = std::max(num_running_max_, running_.size());
      if (on_started_) on_started_();
    }
    const bool all_end = num_started_ == num_wanted_;
    while (!running_.empty() && (all_end || running_.size() >= num_held_)) {
      now_ += 1s;
      end(running_.begin()->first, fault_ ? Finish::error : Finish::stop);
    }
    return number;
  }

  void cancel(RequestNumber number) override {
    if (running_.contains(number)) end(number, Finish::cancelled);
  }

  void call_at(Clock::time_point, std::function<void()> f) override {
    ++num_calls_;
    f();
  }
  Result<HttpAnswer> get(const std::string&, std::chrono::milliseconds) override { return {}; }
  Result<HttpAnswer> post(const std::string&, const std::string&,
                          std::chrono::milliseconds) override {
    return {};
  }
  const Target& target() const override { return target_; }

  std::function<void()> on_started_;
  uint64_t num_wanted_ = 0;     // after that many all end
  std::optional<Fault> fault_;  // of all that end
  std::vector<Clock::time_point> scheduled_;
  uint64_t num_started_ = 0;
  uint64_t num_calls_ = 0;
  size_t num_running_max_ = 0;

 private:
  struct Request {
    std::string label;
    Nanoseconds sent;
    Observer observer;
  };

  void end(RequestNumber number, Finish finish) {
    Request request = std::move(running_.extract(number).mapped());
    RequestRecord record = record_of(request.sent, now_, finish);
    record.label = request.label;
    record.fault = fault_;
    request.observer.on_end(std::move(record));
  }

  Target target_;
  size_t num_held_;
  Nanoseconds now_{0};
  std::map<RequestNumber, Request> running_;
};

NextPlan each_user_sends(uint32_t num_requests) {
  return [counts = std::map<uint32_t, uint32_t>(),
          num_requests](uint32_t user) mutable -> std::optional<RequestPlan> {
    if (counts[user]++ == num_requests) return std::nullopt;
    RequestPlan plan;
    plan.label = "user " + std::to_string(user);
    return plan;
  };
}

TEST(ClosedLoop, EveryUserHasOneRequestUnderWayUntilItIsDone) {
  FakeClient client(4);
  client.num_wanted_ = 12;
  std::map<std::string, int> labels;
  const std::atomic<bool> stop = false;
  const LoadResult result = run_closed_loop(
      client, 4, each_user_sends(3), [&](const RequestRecord& r) { ++labels[r.label]; }, stop);

  EXPECT_EQ(client.num_running_max_, 4U);
  EXPECT_EQ(result.num_sent, 12U);
  EXPECT_EQ(labels, (std::map<std::string, int>{
                        {"user 0", 3}, {"user 1", 3}, {"user 2", 3}, {"user 3", 3}}));
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.num_refused, 0U);
  EXPECT_GT(result.ended, result.began);
}

TEST(ClosedLoop, WhenToldToStopWhatRunsIsCancelledAndNothingMoreIsSent) {
  FakeClient client(5);  // more than users: nothing ends by itself
  std::atomic<bool> stop = false;
  client.on_started_ = [&] { stop = client.num_started_ == 3; };
  std::vector<Finish> finishes;
  const LoadResult result = run_closed_loop(
      client, 3, each_user_sends(100),
      [&](const RequestRecord& record) { finishes.push_back(record.finish); }, stop);

  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(client.num_started_, 3U);
  EXPECT_EQ(finishes, std::vector<Finish>(3, Finish::cancelled));
}

TEST(ClosedLoop, AServerThatIsDownIsAskedAgainOnlyAfterAPause) {
  FakeClient client(1);
  client.fault_ = Fault::server_down;
  const std::atomic<bool> stop = false;
  run_closed_loop(client, 1, each_user_sends(3), [](const RequestRecord&) {}, stop);
  EXPECT_EQ(client.num_started_, 3U);
  EXPECT_EQ(client.num_calls_, 3U);

  FakeClient other(1);
  other.fault_ = Fault::http_error;
  run_closed_loop(other, 1, each_user_sends(3), [](const RequestRecord&) {}, stop);
  EXPECT_EQ(other.num_calls_, 0U);
}

TEST(ClosedLoop, UsersWithoutWorkEndItAtOnce) {
  FakeClient client(1);
  const std::atomic<bool> stop = false;
  const LoadResult result =
      run_closed_loop(client, 3, each_user_sends(0), [](const RequestRecord&) {}, stop);
  EXPECT_EQ(result.num_sent, 0U);
  EXPECT_EQ(result.mean_in_flight, 0);
}

TEST(OpenLoop, WhatComesWhileTooManyAreUnderWayIsCountedAndNotSent) {
  FakeClient client(100);
  client.num_wanted_ = 5;
  uint64_t num_records = 0;
  const std::atomic<bool> stop = false;
  const LoadResult result = run_open_loop(
      client, {.arrivals = {0ns, 1ns, 2ns, 3ns, 4ns}, .max_in_flight = 2},
      [](uint64_t) { return RequestPlan(); }, [&](const RequestRecord&) { ++num_records; }, stop);
  EXPECT_EQ(result.num_refused, 3U);
  EXPECT_EQ(result.num_sent, 2U);
  EXPECT_EQ(num_records, 2U);
  EXPECT_FALSE(result.interrupted);
}

TEST(OpenLoop, EveryPlanIsHandedOverWithItsTimeAndStoppingCancels) {
  FakeClient client(100);
  std::atomic<bool> stop = false;
  client.on_started_ = [&] { stop = client.num_started_ == 2; };
  std::vector<Finish> finishes;
  const LoadResult result = run_open_loop(
      client, {.arrivals = {0ns, 1ns, 2ns}, .max_in_flight = 8},
      [](uint64_t) { return RequestPlan(); },
      [&](const RequestRecord& record) { finishes.push_back(record.finish); }, stop);
  ASSERT_EQ(client.scheduled_.size(), 2U);
  EXPECT_EQ(client.scheduled_[1] - client.scheduled_[0], 1ns);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(finishes, std::vector<Finish>(2, Finish::cancelled));
}

TEST(InFlight, TheMeanIsTheIntegralOverTheWindow) {
  InFlight in_flight;
  in_flight.add(record_of(10ns, 30ns, Finish::stop));
  in_flight.add(record_of(20ns, 60ns, Finish::stop));
  in_flight.add(record_of(0ns, 90ns, Finish::error));  // never sent
  EXPECT_EQ(in_flight.num_sent(), 2U);
  EXPECT_EQ(in_flight.began(), 10ns);
  EXPECT_EQ(in_flight.ended(), 60ns);
  EXPECT_DOUBLE_EQ(in_flight.mean(10ns, 60ns), 60.0 / 50);
  EXPECT_DOUBLE_EQ(in_flight.mean(20ns, 30ns), 2);
  EXPECT_DOUBLE_EQ(in_flight.mean(60ns, 70ns), 0);
  EXPECT_DOUBLE_EQ(in_flight.mean(20ns, 20ns), 0);
}

struct Moments {
  double mean;
  double variance;
};

Moments gap_moments(const std::vector<Nanoseconds>& times) {
  double sum = 0;
  double squares = 0;
  Nanoseconds before{0};
  for (const Nanoseconds time : times) {
    const double gap = static_cast<double>((time - before).count()) * 1e-9;
    before = time;
    sum += gap;
    squares += gap * gap;
  }
  const auto n = static_cast<double>(times.size());
  return {.mean = sum / n, .variance = squares / n - sum / n * (sum / n)};
}

// Of a gamma distribution with mean 1 / rate and shape b the variance is 1 / (rate^2 b).
TEST(Arrivals, GapsHaveTheMeanAndVarianceOfTheirGammaDistribution) {
  for (const double burstiness : {0.25, 0.5, 1.0, 2.0, 8.0}) {
    const auto times =
        arrivals({.requests_per_s = 100, .burstiness = burstiness, .seed = 7}, 1000s);
    const Moments moments = gap_moments(times);
    EXPECT_NEAR(moments.mean, 0.01, 0.0003) << burstiness;
    EXPECT_NEAR(moments.variance, 1e-4 / burstiness, 1e-5 / burstiness) << burstiness;
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_LT(times.back(), 1000s);
  }
}

TEST(Arrivals, ASeedMeansTheSameArrivalsEverywhere) {
  const auto first = arrivals({.requests_per_s = 2, .burstiness = 1, .seed = 1}, 60s);
  EXPECT_EQ(first, arrivals({.requests_per_s = 2, .burstiness = 1, .seed = 1}, 60s));
  EXPECT_NE(first, arrivals({.requests_per_s = 2, .burstiness = 1, .seed = 2}, 60s));
  // mt19937_64 with seed 1 begins with 2469588189546311528.
  const double uniform = static_cast<double>((2469588189546311528ULL >> 11) + 1) * 0x1p-53;
  EXPECT_NEAR(static_cast<double>(first.at(0).count()), -std::log(uniform) / 2 * 1e9, 2);
}

TEST(Arrivals, WithoutBurstsTheyAreEven) {
  const auto times = arrivals(
      {.requests_per_s = 4, .burstiness = std::numeric_limits<double>::infinity(), .seed = 1}, 1s);
  EXPECT_EQ(times, (std::vector<Nanoseconds>{250ms, 500ms, 750ms}));
}

TEST(Arrivals, NumbersThatMeanNothingGiveNone) {
  EXPECT_TRUE(arrivals({.requests_per_s = 0}, 10s).empty());
  EXPECT_TRUE(arrivals({.requests_per_s = -1}, 10s).empty());
  EXPECT_TRUE(arrivals({.requests_per_s = std::nan("")}, 10s).empty());
  EXPECT_TRUE(arrivals({.requests_per_s = 1, .burstiness = 0}, 10s).empty());
  EXPECT_TRUE(arrivals({.requests_per_s = 1}, 0s).empty());
}

}  // namespace
}  // namespace evener::bench
