// Ranks that end, hang or compute wrong numbers. Judged here: who runs is told which rank it was,
// who waits is answered, the engine answers again, and it ends in every state. Nothing is timed;
// deadlines are short because a rank that hangs is waited for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "engine/mixed_requests.h"
#include "engine/models.h"
#include "engine/rank_plans.h"

namespace evener::engine {
namespace {

using namespace std::chrono_literals;
using parallel::Layout;
using State = RanksReport::State;

const Layout kShards = {.ratio = {1, 1}};
const Layout kStages = {.borders = {1}};

EngineOptions options_for_faults() {
  EngineOptions options = small_options("qwen35");
  options.parallel.rank_deadline = 700ms;
  options.max_sequences = 1;
  return options;
}

std::unique_ptr<Engine> start_with_fault(const std::string& fault, const Layout& layout,
                                         EngineOptions options = options_for_faults()) {
  options.parallel.fault = *parallel::parse_fault(fault);
  return start_over(options, plan_of(layout));
}

GenerationRequest long_request() { return greedy({1, 2, 3}, 200); }

// Fails one request, and returns what it was told.
Error fail_one(Engine& engine) {
  const Answer failed = generate(engine, long_request());
  EXPECT_EQ(failed.finish, FinishReason::failed);
  if (!failed.error) return {};
  EXPECT_EQ(failed.error->code, Code::unavailable);
  return *failed.error;
}

struct Case {
  std::string name;
  Layout layout;
  std::string fault;
  std::string who;   // the error begins with
  std::string why;   // and what they did
  std::string kind;  // as it is counted
};

class RankFaults : public testing::TestWithParam<Case> {};

TEST_P(RankFaults, AreToldToWhoRunsAndOvercomeByARestart) {
  const Case& c = GetParam();
  const auto healthy = start_over(options_for_faults(), plan_of(c.layout));
  const std::vector<Said> expected = one_after_the_other(*healthy);

  const auto engine = start_with_fault(c.fault, c.layout);
  Listener running;
  Listener waiting;
  ASSERT_TRUE(engine->submit(long_request(), running.sink()).has_value());
  ASSERT_TRUE(engine->submit(greedy({1, 2, 3}, 5), waiting.sink()).has_value());
  EXPECT_EQ(running.wait().finish, FinishReason::failed);
  ASSERT_TRUE(running.wait().error.has_value());
  EXPECT_EQ(running.wait().error->code, Code::unavailable);
  EXPECT_EQ(running.wait().error->why.substr(0, c.who.size()), c.who);
  EXPECT_NE(running.wait().error->why.find(c.why), std::string::npos) << running.wait().error->why;
  EXPECT_EQ(waiting.wait().finish, FinishReason::length);

  EXPECT_EQ(one_after_the_other(*engine), expected);
  const RanksReport report = engine->stats().ranks;
  EXPECT_EQ(report.state, State::running);
  EXPECT_EQ(report.num_restarts, 1U);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures.begin()->first.kind, c.kind);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RankFaults,
    testing::Values(Case{"shard_ends", kShards, "rank=1,after=60,kind=exit", "rank 1 (",
                         "it has ended", "ended"},
                    Case{"shard_hangs", kShards, "rank=1,after=60,kind=hang", "rank 1 (",
                         "no sign of life", "late"},
                    Case{"shard_lies", kShards, "rank=1,after=60,kind=corrupt", "rank 0 (",
                         "computed other numbers", "differs"},
                    Case{"first_stage_ends", kStages, "rank=0,after=30,kind=exit", "rank 0 (",
                         "it has ended", "ended"},
                    Case{"first_stage_hangs", kStages, "rank=0,after=30,kind=hang", "rank 0 (",
                         "no sign of life", "late"},
                    Case{"last_stage_ends", kStages, "rank=1,after=30,kind=exit", "rank 1 (",
                         "it has ended", "ended"},
                    Case{"last_stage_hangs", kStages, "rank=1,after=30,kind=hang", "rank 1 (",
                         "no sign of life", "late"}),
    [](const auto& param) { return param.param.name; });

TEST(FailedRanks, ThatComeBackTooOftenLeaveTheEngineDownWithAReason) {
  EngineOptions options = options_for_faults();
  options.parallel.max_restarts = 1;
  const auto engine = start_with_fault("rank=1,after=60,kind=exit,times=9", kShards, options);
  EXPECT_TRUE(fail_one(*engine).why.ends_with("it has ended"));
  EXPECT_TRUE(fail_one(*engine).why.ends_with("it has ended"));
  Listener late;
  const auto refused = engine->submit(long_request(), late.sink());
  const Error why = refused ? *late.wait().error : refused.error();
  EXPECT_EQ(why.code, Code::unavailable);
  EXPECT_NE(why.why.find("as many restarts within an hour as may be: 1"), std::string::npos)
      << why.why;
  EXPECT_TRUE(why.why.starts_with("rank 1 (")) << why.why;
  EXPECT_EQ(engine->stats().ranks.state, State::down);
}

TEST(FailedRanks, WithFallbackTheOthersGoOnAlone) {
  EngineOptions options = options_for_faults();
  options.parallel.max_restarts = 0;
  options.parallel.fallback = true;
  const TemporaryFolder folder;
  options.cache_dir = folder.path();
  options.cache_memory_bytes = size_t{8} << 20;
  const std::vector<Said> expected =
      one_after_the_other(*start_over(options_for_faults(), plan_of({})));
  const auto engine = start_with_fault("rank=1,after=60,kind=exit", kShards, options);
  EXPECT_TRUE(fail_one(*engine).why.ends_with("it has ended"));
  EXPECT_EQ(one_after_the_other(*engine), expected);
  const RanksReport report = engine->stats().ranks;
  EXPECT_EQ(report.state, State::degraded);
  EXPECT_EQ(report.ranks.size(), 1U);
}

TEST(FailedRanks, EnginesEndWhileRanksHangAndWhileTheyAreRestarted) {
  for (const char* const fault :
       {"rank=1,after=60,kind=hang", "rank=1,after=60,kind=exit,times=9"}) {
    const auto engine = start_with_fault(fault, kShards);
    Listener listener;
    ASSERT_TRUE(engine->submit(long_request(), listener.sink()).has_value());
    listener.wait_for_tokens(2);
    if (std::string(fault).ends_with("times=9")) listener.wait();
    engine->stop();
    EXPECT_TRUE(listener.wait().finish.has_value());
  }
}

TEST(FailedRanks, CancellationIsHeardWhileARankHangs) {
  const auto engine = start_with_fault("rank=0,after=60,kind=hang", kShards);
  Listener listener;
  const auto id = engine->submit(long_request(), listener.sink());
  ASSERT_TRUE(id.has_value());
  engine->cancel(*id);
  EXPECT_TRUE(listener.wait().finish.has_value());
  Answer next = generate(*engine, greedy({1, 2}, 3));
  if (next.finish == FinishReason::failed) next = generate(*engine, greedy({1, 2}, 3));
  EXPECT_EQ(next.finish, FinishReason::length);
}

TEST(FailedRanks, OfRanksThatAreNotThereAreRefused) {
  EngineOptions options = options_for_faults();
  options.parallel.fault = *parallel::parse_fault("rank=2,kind=exit");
  options.num_threads = 0;
  const auto loaded = load(options, plan_of(kShards), {});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(to_string(loaded.error()), "cannot plan a fault: rank 2: there are 2 ranks, from 0 on");
}

}  // namespace
}  // namespace evener::engine
