#include <algorithm>

#include "bench/experiments/experiment_bench.h"
#include "bench/experiments/experiments.h"

namespace evener::bench {

namespace {

ExperimentOptions::Prefix small() {
  return {.num_sessions = 2, .num_turns = 3, .num_tokens_shared = 200, .num_tokens_new = 64};
}

// Every turn is asked with all before it and the answers that really came, and what the cache gave
// back is set against what it could have given.
TEST(PrefixExperiment, ContinuesConversationsAndTellsWhatWasReused) {
  ExperimentBench bench;
  bench.options.prefix = small();
  const Status done = bench.run(prefix_experiment);
  ASSERT_TRUE(done) << to_string(done.error());

  EXPECT_EQ(bench.cells(),
            (std::set<std::string>{"prefix/multi_turn-1/1", "prefix/multi_turn-2/1",
                                   "prefix/multi_turn-3/1", "prefix/shared_prefix-first/1",
                                   "prefix/shared_prefix-others/1"}));
  for (const CellRecord& cell : bench.book().cells)
    EXPECT_EQ(cell.state, CellState::complete) << cell.key;

  size_t num_third_turns = 0;
  for (const json::Value& body : bench.server().bodies()) {
    const json::Value& messages = body["messages"];
    if (messages.size() != 5) continue;
    ++num_third_turns;
    EXPECT_EQ(messages[1]["role"], "assistant");
    EXPECT_TRUE(messages[1]["content"].get<std::string>().starts_with("1 2 3 "));
  }
  EXPECT_EQ(num_third_turns, 2U);

  auto shares = bench.values("reuse_share");
  EXPECT_EQ(shares.count("prefix/multi_turn-1/1"), 0U) << "nothing can be reused in a first turn";
  for (const char* cell :
       {"prefix/multi_turn-2/1", "prefix/multi_turn-3/1", "prefix/shared_prefix-others/1"}) {
    ASSERT_EQ(shares[cell].size(), 2U) << cell;
    for (const double share : shares[cell]) {
      EXPECT_GT(share, 0.6) << cell;
      EXPECT_LE(share, 1.05) << cell;
    }
  }
  EXPECT_GE(bench.server().num_flushes(), 2U);
}

// A first turn that comes from the cache is no first turn.
TEST(PrefixExperiment, VoidsFirstTurnsThatWereCached) {
  ExperimentBench bench(scripted([&](Script& s) { s.says_cached = true; }));
  bench.options.prefix = small();
  const Status done = bench.run(prefix_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  for (const CellRecord& cell : bench.book().cells) {
    const bool is_first = cell.target.at("turn") == "1" || cell.target.at("turn") == "first";
    EXPECT_EQ(cell.state, is_first ? CellState::voided : CellState::complete) << cell.key;
  }
}

TEST(PrefixExperiment, LeavesOutTurnsThatDoNotFitTheContext) {
  ExperimentBench bench(scripted([&](Script& s) { s.context_tokens = 512; }));
  bench.options.prefix = small();
  bench.options.prefix.num_turns = 8;
  const Status done = bench.run(prefix_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  EXPECT_NE(bench.findings(Fault::not_measured).find("to 8: a conversation of"), std::string::npos)
      << bench.findings(Fault::not_measured);
  EXPECT_FALSE(bench.cells().contains("prefix/multi_turn-8/1"));
}

TEST(PrefixExperiment, KeepsWhatIsThereAfterAnInterrupt) {
  ExperimentBench bench;
  bench.options.prefix = small();
  bench.on_progress = [&](const std::string& what) {
    if (what.find("session 2 turn 2") != std::string::npos) bench.stop = true;
  };
  const Status done = bench.run(prefix_experiment);
  ASSERT_TRUE(done) << to_string(done.error());
  ASSERT_EQ(bench.book().cells.size(), 2U);
  EXPECT_EQ(bench.book().cells[0].state, CellState::complete);
  EXPECT_EQ(bench.book().cells[1].state, CellState::partial);
}

}  // namespace
}  // namespace evener::bench
