// The experiments with many at a time, against a server that does what its script says.
#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "bench/experiments/arrivals_cell.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/lab.h"

namespace evener::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Concurrency, MeasuresEachLevelWithItsUsers) {
  Lab lab;
  lab.options.concurrency.levels = {1, 3};
  lab.options.concurrency.time = std::chrono::duration<double>(0.05);
  ASSERT_TRUE(lab.run(concurrency_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("concurrency/1/1", "concurrency/3/1"));
  EXPECT_EQ(lab.notes.cells.at(1).target.at("num_users"), "3");
  std::set<std::string> of_three;
  for (const RequestRecord& request : lab.notes.requests) {
    if (request.cell == "concurrency/3/1" && !request.excluded) of_three.insert(request.label);
  }
  EXPECT_THAT(of_three, ElementsAre("user 1", "user 2", "user 3"));
}

TEST(Concurrency, TakesPowersOfTwoUpToWhatTheServerRuns) {
  Lab lab(script_with([](Script& script) { script.max_running = 6; }));
  lab.options.concurrency.time = std::chrono::duration<double>(0.001);
  ASSERT_TRUE(lab.run(concurrency_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("concurrency/1/1", "concurrency/2/1", "concurrency/4/1",
                                      "concurrency/6/1"));
}

TEST(Concurrency, RefusesALevelOfNobody) {
  Lab lab;
  lab.options.concurrency.levels = {0};
  const Status done = lab.run(concurrency_experiment);
  ASSERT_FALSE(done);
  EXPECT_EQ(to_string(done.error()), "cannot measure concurrency: 0 users: there can be 1 to 4096");
}

TEST(Load, SendsAtItsRatesAndCountsTheGoodAnswers) {
  Lab lab;
  lab.options.load.rates = {400, 100};
  lab.options.load.time = std::chrono::duration<double>(0.2);
  lab.options.load.limits.e2e_ms = 1e6;
  ASSERT_TRUE(lab.run(load_experiment));
  ASSERT_FALSE(lab.keys().empty());
  EXPECT_EQ(lab.keys().at(0), "load/100/1");
  // A machine that is busy with other things may be overloaded by 100 a second already.
  if (lab.values("overloaded").at(0) == 0) {
    EXPECT_EQ(lab.keys().at(1), "load/400/1");
  }
  EXPECT_EQ(lab.notes.cells.at(0).target.at("requests_per_s"), "100");
  EXPECT_THAT(lab.values("good_share"), testing::Each(1.0));
  for (const RequestRecord& request : lab.notes.requests) EXPECT_TRUE(request.scheduled);
}

TEST(Load, FindsNothingGoodUnderALimitThatNoAnswerMeets) {
  Lab lab;
  lab.options.load.rates = {200};
  lab.options.load.time = std::chrono::duration<double>(0.1);
  lab.options.load.limits.ttft_ms = 0;
  ASSERT_TRUE(lab.run(load_experiment));
  EXPECT_THAT(lab.values("good_share"), ElementsAre(0.0));
  EXPECT_THAT(lab.values("saturation_requests_per_s"), ElementsAre());
}

TEST(Load, MeasuresTheCapacityFirstWhereNoRatesAreGiven) {
  Lab lab;
  lab.options.load.time = std::chrono::duration<double>(0.05);
  ASSERT_TRUE(lab.run(load_experiment));
  EXPECT_EQ(lab.keys().at(0), "load/capacity/1");
  ASSERT_EQ(lab.values("capacity_requests_per_s").size(), 1);
  EXPECT_GT(lab.values("capacity_requests_per_s").at(0), 0);
  EXPECT_GT(lab.keys().size(), 2);
}

TEST(Load, ReplaysATraceWithWhatItsPromptsShare) {
  Lab lab;
  const std::string path = testing::TempDir() + "/load_replays_a_trace.jsonl";
  std::ofstream(path)
      << R"({"timestamp": 0, "input_length": 700, "output_length": 5, "hash_ids": [1, 2]})"
      << "\n"
      << R"({"timestamp": 3, "input_length": 900, "output_length": 7, "hash_ids": [1, 3]})"
      << "\n";
  lab.options.load.trace = path;
  ASSERT_TRUE(lab.run(load_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("load/trace/1"));
  const auto bodies = lab.scripted.bodies();
  ASSERT_GE(bodies.size(), 2);
  std::vector<std::string> prompts;
  for (const json::Value& body : bodies) {
    if (body.value("max_tokens", 0) == 5 || body.value("max_tokens", 0) == 7) {
      prompts.push_back(body["messages"][0]["content"]);
    }
  }
  ASSERT_EQ(prompts.size(), 2);
  EXPECT_EQ(prompts[0].substr(0, 600), prompts[1].substr(0, 600));
  EXPECT_NE(prompts[0], prompts[1]);
}

TEST(Load, RefusesATraceThatDoesNotFit) {
  Lab lab;
  const std::string path = testing::TempDir() + "/load_refuses_a_trace.jsonl";
  std::ofstream(path) << R"({"timestamp": 0, "input_length": 9000, "output_length": 5})" << "\n";
  lab.options.load.trace = path;
  const Status done = lab.run(load_experiment);
  ASSERT_FALSE(done);
  EXPECT_THAT(
      to_string(done.error()),
      HasSubstr("request 1: 9000 tokens and 5 of an answer are more than the server takes"));
}

// A queue that grows all through a window, and one that is the same at both ends of it.
std::vector<RequestRecord> window(bool grows) {
  std::vector<RequestRecord> requests;
  for (int i = 0; i < 40; ++i) {
    RequestRecord request;
    const Nanoseconds wait = std::chrono::milliseconds(grows ? 20 + 5 * i : 20 + 5 * (i % 7));
    request.sent = std::chrono::milliseconds(10 * i);
    request.scheduled = request.sent;
    request.events = {{.at = request.sent + wait}, {.at = request.sent + wait}};
    request.ended = request.sent + wait;
    request.http_status = 200;
    request.finish = Finish::length;
    request.num_tokens_out = 2;
    requests.push_back(std::move(request));
  }
  return requests;
}

TEST(Load, IsOverloadedWhereQueueAndWaitingGrow) {
  EXPECT_TRUE(is_overloaded(window(true)));
  EXPECT_FALSE(is_overloaded(window(false)));
  EXPECT_FALSE(is_overloaded({}));
}

}  // namespace
}  // namespace evener::bench
