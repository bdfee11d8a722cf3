#include "bench/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/figures/make_record.h"

namespace evener::bench {
namespace {

using Verdict = MetricComparison::Verdict;
using testing::HasSubstr;

// A run of one point, three rounds of eight requests. The first token of request j of a round comes
// after `scale` * (100 + j) ms, and then 9 ms later than in the round before per `drift`.
struct Shape {
  double scale = 1;
  double drift_ms = 0;
  std::string server = "1";
  uint64_t output_hash = 7;
};

Run make_run(const std::string& id, const Shape& shape) {
  Run run;
  run.header.id = id;
  run.header.caliber = {{"model.hash", "aa"}, {"server.version", shape.server}};
  run.state = RunState::complete;
  for (uint32_t round = 0; round < 3; ++round) {
    CellRecord cell;
    cell.key = "sweep/100/" + std::to_string(round);
    cell.experiment = "sweep";
    cell.target = {{"num_tokens_in", "100"}};
    cell.round = round;
    run.cells.push_back(cell);
    for (int j = 0; j < 8; ++j) {
      const double sent = 1000.0 * j;
      const double first = sent + shape.scale * (100 + j) + shape.drift_ms * round;
      RequestRecord r = make_record(cell.key, sent, {first, first + 10, first + 20});
      r.prompt_hash = uint64_t(round * 8 + j + 1);
      r.output_hash = shape.output_hash;
      run.requests.push_back(r);
    }
  }
  return run;
}

MetricComparison metric_of(const Comparison& comparison, const std::string& key,
                           const std::string& role = "") {
  for (const MetricComparison& m : comparison.points.at(0).metrics) {
    if (m.key == key && m.role == role) return m;
  }
  ADD_FAILURE() << "no " << key << " of '" << role << "'";
  return {};
}

TEST(CompareRuns, SaysHowMuchFasterOneIs) {
  const auto c = compare_runs(make_run("a", {}), make_run("b", {.scale = 0.8}), nullptr);
  ASSERT_TRUE(c) << to_string(c.error());
  ASSERT_EQ(c->points.size(), 1);
  EXPECT_EQ(c->points[0].num_rounds_a, 3);
  const MetricComparison ttft = metric_of(*c, "ttft_ms");
  EXPECT_EQ(ttft.verdict, Verdict::better);
  EXPECT_DOUBLE_EQ(ttft.median_a, 103);
  EXPECT_DOUBLE_EQ(ttft.median_b, 82.4);
  ASSERT_TRUE(ttft.estimate);
  EXPECT_DOUBLE_EQ(ttft.estimate->ratio, 0.8);
  EXPECT_EQ(ttft.noise_floor, 0);
  EXPECT_EQ(metric_of(*c, "prefill_tokens_per_s").verdict, Verdict::better) << "higher is better";
  EXPECT_EQ(metric_of(*c, "tpot_ms").verdict, Verdict::no_difference);
  EXPECT_FALSE(fails_gate(ttft));

  const auto reverse = compare_runs(make_run("a", {}), make_run("b", {.scale = 1.2}), nullptr);
  ASSERT_TRUE(reverse);
  EXPECT_EQ(metric_of(*reverse, "ttft_ms").verdict, Verdict::worse);
  EXPECT_TRUE(fails_gate(metric_of(*reverse, "ttft_ms")));
  EXPECT_TRUE(fails_gate(metric_of(*reverse, "prefill_tokens_per_s")));
  EXPECT_FALSE(fails_gate(metric_of(*reverse, "tpot_ms")));
}

TEST(CompareRuns, ShowsNoDifferenceBetweenEqualRuns) {
  const auto c = compare_runs(make_run("a", {}), make_run("b", {}), nullptr);
  ASSERT_TRUE(c);
  EXPECT_GT(c->num_comparisons, 3);
  for (const MetricComparison& m : c->points[0].metrics) {
    EXPECT_TRUE(m.verdict == Verdict::no_difference || m.verdict == Verdict::too_few) << m.key;
    EXPECT_FALSE(fails_gate(m)) << m.key;
  }
}

// B is 5 % slower, without doubt; but A's own rounds lie 9 ms apart.
TEST(CompareRuns, DoesNotCallAnEffectWithinTheNoiseADifference) {
  const auto c = compare_runs(make_run("a", {.drift_ms = 9}),
                              make_run("b", {.scale = 1.05, .drift_ms = 9}), nullptr);
  ASSERT_TRUE(c);
  const MetricComparison ttft = metric_of(*c, "ttft_ms");
  ASSERT_TRUE(ttft.estimate);
  EXPECT_GT(ttft.estimate->interval.low, 1);
  EXPECT_GT(*ttft.noise_floor, 0.05);
  EXPECT_EQ(ttft.verdict, Verdict::no_difference);
}

// One round says nothing of how the same thing would have been another time.
TEST(CompareRuns, DoesNotJudgeByASingleRound) {
  auto a = make_run("a", {});
  a.cells.resize(1);
  const auto b = make_run("b", {.scale = 2});
  const auto c = compare_runs(a, b, nullptr);
  ASSERT_TRUE(c);
  const MetricComparison ttft = metric_of(*c, "ttft_ms");
  EXPECT_TRUE(ttft.estimate);
  EXPECT_EQ(ttft.noise_floor, std::nullopt);
  EXPECT_EQ(ttft.verdict, Verdict::noise_unknown);
  EXPECT_FALSE(fails_gate(ttft));
  EXPECT_EQ(c->num_comparisons, 0);

  const auto again = make_run("a2", {.scale = 1.1});
  EXPECT_EQ(metric_of(*compare_runs(a, b, &again), "ttft_ms").verdict, Verdict::worse);
}

TEST(CompareRuns, CountsTheSpreadOfEitherRunAsNoise) {
  const auto c =
      compare_runs(make_run("a", {}), make_run("b", {.scale = 1.05, .drift_ms = 9}), nullptr);
  ASSERT_TRUE(c);
  EXPECT_GT(*metric_of(*c, "ttft_ms").noise_floor, 0.05);
}

TEST(CompareRuns, TakesTheNoiseFromASecondRunOfA) {
  const auto a = make_run("a", {});
  const auto again = make_run("a2", {.scale = 1.1});
  const auto c = compare_runs(a, make_run("b", {.scale = 1.08}), &again);
  ASSERT_TRUE(c);
  EXPECT_NEAR(*metric_of(*c, "ttft_ms").noise_floor, 0.1, 1e-9);
  EXPECT_EQ(metric_of(*c, "ttft_ms").verdict, Verdict::no_difference);
}

TEST(CompareRuns, LeavesOutCellsThatDoNotCountAndSaysSo) {
  auto a = make_run("a", {});
  auto b = make_run("b", {});
  a.cells[0].state = CellState::voided;
  b.cells[1].state = CellState::partial;
  CellRecord more = b.cells[0];
  more.key = "sweep/200/0";
  more.target["num_tokens_in"] = "200";
  b.cells.push_back(more);
  const auto c = compare_runs(a, b, nullptr);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->num_left_out_a, 1);
  EXPECT_EQ(c->num_left_out_b, 1);
  EXPECT_EQ(c->num_only_in_a, 0);
  EXPECT_EQ(c->num_only_in_b, 1);
  EXPECT_EQ(metric_of(*c, "ttft_ms").num_a, 16);

  for (CellRecord& cell : a.cells) cell.state = CellState::voided;
  const auto nothing = compare_runs(a, b, nullptr);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().why, "no point was measured, whole, in both");
}

// The median over victim and attackers would be that of neither.
TEST(CompareRuns, KeepsTheRolesOfACellApart) {
  auto a = make_run("a", {});
  auto b = make_run("b", {.scale = 2});
  for (auto* run : {&a, &b}) {
    for (size_t i = 0; i < run->requests.size(); ++i) {
      run->requests[i].label = i % 2 == 0 ? "victim" : "attacker " + std::to_string(i);
    }
  }
  const auto c = compare_runs(a, b, nullptr);
  ASSERT_TRUE(c);
  EXPECT_EQ(metric_of(*c, "ttft_ms", "victim").num_a, 12);
  EXPECT_DOUBLE_EQ(metric_of(*c, "ttft_ms", "victim").median_a, 102);
  EXPECT_DOUBLE_EQ(metric_of(*c, "ttft_ms", "attacker").median_a, 103);
  EXPECT_EQ(metric_of(*c, "requests_per_s").num_a, 3) << "of the cell: one a round";
}

TEST(CompareRuns, JudgesValuesByTheirUnit) {
  auto a = make_run("a", {});
  auto b = make_run("b", {});
  for (const CellRecord& cell : a.cells) {
    for (int i = 0; i < 4; ++i) {
      a.values.push_back({.cell = cell.key, .key = "bandwidth", .unit = "GB/s", .value = 10.0 + i});
      b.values.push_back({.cell = cell.key, .key = "bandwidth", .unit = "GB/s", .value = 20.0 + i});
      a.values.push_back({.cell = cell.key, .key = "score", .unit = "", .value = 1});
      b.values.push_back({.cell = cell.key, .key = "score", .unit = "", .value = 2});
    }
  }
  const auto c = compare_runs(a, b, nullptr);
  ASSERT_TRUE(c);
  EXPECT_EQ(metric_of(*c, "bandwidth").verdict, Verdict::better);
  EXPECT_EQ(metric_of(*c, "score").verdict, Verdict::differs);
}

TEST(CompareRuns, ComparesAnswersToTheSamePrompts) {
  const auto a = make_run("a", {});
  auto b = make_run("b", {});
  auto c = compare_runs(a, b, nullptr);
  ASSERT_TRUE(c);
  EXPECT_EQ(c->outputs.num_prompts, 24);
  EXPECT_EQ(c->outputs.num_same, 24);

  b.requests[2].output_hash = 8;
  b.requests[3].prompt_hash = 99;            // asked by nobody else
  b.requests[4].num_tokens_out_wanted = 12;  // another length is another question
  b.requests[5].finish = Finish::cancelled;
  c = compare_runs(a, b, nullptr);
  EXPECT_EQ(c->outputs.num_prompts, 21);
  EXPECT_EQ(c->outputs.num_same, 20);
  EXPECT_EQ(c->outputs.first_difference, "sweep/100/0, user 0");

  b.header.caliber["method.temperature"] = "0.7";
  EXPECT_FALSE(compare_runs(a, b, nullptr)->outputs.judged);
}

// Method: the whole page of a point with one figure of each kind.
TEST(ComparisonText, SaysWhatIsShownAndWhatIsNot) {
  auto a = make_run("a", {});
  auto b = make_run("b", {.scale = 0.8, .server = "2"});
  b.header.caliber["model.hash"] = "bb\x1b[2J";
  b.header.caliber["tool.version"] = "2";
  a.cells.back().state = CellState::voided;
  auto comparison = compare_runs(a, b, nullptr);
  ASSERT_TRUE(comparison);
  std::erase_if(comparison->points[0].metrics, [](const MetricComparison& m) {
    return m.key != "ttft_ms" && m.key != "tpot_ms" && m.key != "requests_per_s";
  });
  EXPECT_EQ(comparison_text(*comparison, a, b), R"(A  a  1970-01-01 00:00 UTC  1
B  b  1970-01-01 00:00 UTC  2

OF DIFFERENT CALIBERS: what follows may come from any of
  model.hash                       aa  ->  bb\x1b[2J

Under test:
  server.version                   1  ->  2

Also different:
  tool.version                     unknown  ->  2

sweep, num_tokens_in 100 (rounds: 2 and 3)
  median                                        A          B   B / A    95 % interval    noise
  ttft_ms                                   103.0      82.40   0.800   0.785 .. 0.823    0.0 %  better by 20.0 %
  tpot_ms                                   10.00      10.00   1.000   1.000 .. 1.000    0.0 %  no difference shown
  requests_per_s                            1.122      1.126                             0.0 %  no interval (n 2 and 3)

B / A: ratio of medians; its interval by a bootstrap over rounds, then requests. noise: how far
a run lies from itself; an effect within it is no difference.
9 figures were judged; about 1 of them would show a difference by chance alone.
Left out, as voided or incomplete: 1 cells of A, 0 of B.
Answers: 24 of 24 prompts that both runs asked have the same one.
)");
}

TEST(CheckComparable, RefusesOtherCalibersAndNamesWhatDiffers) {
  const auto a = make_run("a", {});
  auto b = make_run("b", {.server = "2"});
  EXPECT_TRUE(check_comparable(a, b)) << "the server is what is under test";
  b.header.caliber["model.hash"] = "bb";
  b.header.caliber["host.cpu"] = "x";
  const Status refused = check_comparable(a, b);
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_string(refused.error()),
            "cannot compare: a and b: they are of different calibers: host.cpu (unknown and x); "
            "model.hash (aa and bb)\n  measure both alike, or look at them beside each other "
            "with --force");
  for (int i = 0; i < 9; ++i) b.header.caliber["method.m" + std::to_string(i)] = "x";
  EXPECT_THAT(check_comparable(a, b).error().why, HasSubstr("; and 5 more"));
}

}  // namespace
}  // namespace evener::bench
