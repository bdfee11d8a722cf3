#include <fmt/format.h>

#include "bench/experiments/experiment_bench.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/spec_counters.h"

namespace evener::bench {

namespace {

TEST(SpecCounters, AreAddedOverTheirLabels) {
  const std::map<std::string, double> metrics = {
      {"vllm:spec_decode_num_drafts_total{engine=\"0\"}", 10},
      {"vllm:spec_decode_num_draft_tokens_total{engine=\"0\"}", 30},
      {"vllm:spec_decode_num_draft_tokens_total{engine=\"1\"}", 3},
      {"vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"}", 12},
      {"vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"0\"}", 8},
      {"vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"1\"}", 4},
      {"vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"-1\"}", 99},
      {"vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"", 99},
  };
  const auto counters = spec_counters(metrics);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->num_drafts, 10);
  EXPECT_EQ(counters->num_drafted, 33);
  EXPECT_EQ(counters->num_accepted, 12);
  EXPECT_EQ(counters->num_accepted_at, (std::map<int, double>{{0, 8}, {1, 4}}));
  EXPECT_FALSE(spec_counters({{"vllm:spec_decode_num_draft_tokens_total", 1}}));
  EXPECT_FALSE(spec_counters({}));
}

// Each kind of text is measured, greedy and sampled; acceptance is what the counters grew by.
TEST(SpecExperiment, TellsAcceptanceFromWhatTheCountersGrewBy) {
  Script script;
  script.manners = Script::Manners::vllm;
  script.tells_timings = false;
  ExperimentBench bench(script);
  unsigned num_answers = 0;  // one at a time
  const auto counters = [&num_answers] {
    return fmt::format(
        "vllm:spec_decode_num_drafts_total {0}\nvllm:spec_decode_num_draft_tokens_total {1}\n"
        "vllm:spec_decode_num_accepted_tokens_total {2}\n"
        "vllm:spec_decode_num_accepted_tokens_per_pos_total{{position=\"0\"}} {2}\n",
        100 + 10 * num_answers, 900 + 20 * num_answers, 500 + 5 * num_answers);
  };
  script.answer = [&](const json::Value&) {
    ++num_answers;
    script.more_metrics = counters();
    bench.server().set(script);
    return std::vector<std::string>();
  };
  script.more_metrics = counters();
  bench.server().set(script);
  const Status done = bench.run(spec_experiment);
  ASSERT_TRUE(done) << to_string(done.error());

  EXPECT_EQ(bench.cells().size(), 6U);
  std::set<double> temperatures;
  for (const json::Value& body : bench.server().bodies()) {
    if (body.value("max_tokens", 0) == 32) temperatures.insert(body["temperature"].get<double>());
  }
  EXPECT_EQ(temperatures, (std::set<double>{0, 0.8}));
  const auto rates = bench.values("accept_rate");
  const auto lengths = bench.values("accept_length");
  const auto first = bench.values("accept_rate_at_1");
  for (const std::string& cell : bench.cells()) {
    EXPECT_EQ(rates.at(cell), std::vector<double>{0.25}) << cell;
    EXPECT_EQ(lengths.at(cell), std::vector<double>{1.5}) << cell;
    EXPECT_EQ(first.at(cell), std::vector<double>{0.5}) << cell;
  }
  EXPECT_EQ(bench.findings(Fault::not_measured), "");
}

TEST(SpecExperiment, SaysThatAcceptanceIsNotOffered) {
  ExperimentBench bench;
  const Status done = bench.run(spec_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_EQ(bench.cells().size(), 6U);
  EXPECT_TRUE(bench.values("accept_rate").empty());
  EXPECT_EQ(bench.findings(Fault::not_measured),
            "spec: acceptance: neither answers nor /metrics of the server tell of drafts; speed by "
            "kind of text was measured\n");
}

}  // namespace
}  // namespace evener::bench
