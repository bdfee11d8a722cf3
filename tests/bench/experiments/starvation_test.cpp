// Starvation: the figures from records made here, and whole runs against a scripted server.
#include <gmock/gmock.h>

#include "bench/experiments/attack.h"
#include "bench/experiments/experiments.h"
#include "bench/experiments/lab.h"
#include "bench/experiments/slope.h"
#include "bench/experiments/trace.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

// A token every 10 ms; between 100 and 400 ms only one every 100.
RequestRecord slowed_victim() {
  RequestRecord victim;
  const auto say = [&victim](int at) {
    victim.events.push_back({.at = milliseconds(at), .num_tokens = 1, .num_bytes = 1});
  };
  for (int at = 10; at <= 100; at += 10) say(at);
  for (int at = 200; at <= 400; at += 100) say(at);
  for (int at = 410; at <= 500; at += 10) say(at);
  victim.num_tokens_out = victim.events.size();
  return victim;
}

TEST(Attack, IsJudgedByTheGapsThatTouchIt) {
  const AttackFigures figures =
      attack_figures(slowed_victim(), {.began = milliseconds(105), .ended = milliseconds(395)});
  EXPECT_THAT(figures.gaps_ms, ElementsAre(100, 100, 100));
  EXPECT_EQ(figures.gap_max_ms, 100);
  ASSERT_TRUE(figures.tokens_per_s);
  EXPECT_NEAR(*figures.tokens_per_s, 2 / 0.29, 1e-9);
}

TEST(Attack, CountsEventsByTheirMeanOnlyWhereNearlyAllAreTokens) {
  RequestRecord victim = slowed_victim();
  for (OutputEvent& event : victim.events) event.num_tokens = 0;
  victim.num_tokens_out = victim.events.size() + 2;
  const AttackWindow attack{.began = milliseconds(105), .ended = milliseconds(395)};
  ASSERT_TRUE(attack_figures(victim, attack).tokens_per_s);
  EXPECT_NEAR(*attack_figures(victim, attack).tokens_per_s, 2 / 0.29 * 25 / 23, 1e-9);
  victim.num_tokens_out = victim.events.size() * 3;
  EXPECT_FALSE(attack_figures(victim, attack).tokens_per_s);
}

TEST(Attack, ExpectsAGapAChunk) {
  const ExpectedGaps expected = expected_gaps(48'000, 2'048, 47'580);
  EXPECT_EQ(expected.num_gaps, 24);
  EXPECT_NEAR(expected.gap_ms, 1982.5, 0.1);
  EXPECT_EQ(expected_gaps(2'048, 2'048, 1).num_gaps, 1);
  EXPECT_EQ(num_gaps_like(expected, {900, 1'000, 2'500, 30}, 30), 2);
  // What is usual anyway is no trace of an attack.
  EXPECT_EQ(num_gaps_like({.num_gaps = 3, .gap_ms = 20}, {15, 15, 90}, 15), 1);
}

TEST(Starvation, HoldsTheVictimAgainstItselfAlone) {
  Script script;
  script.time_per_prompt_token = std::chrono::microseconds(20);
  Lab lab(script);
  lab.options.starvation.attackers = {2'000};
  lab.options.starvation.num_tokens_victim = 100;
  lab.options.starvation.after = milliseconds(50);
  ASSERT_TRUE(lab.run(starvation_experiment));
  EXPECT_THAT(lab.keys(), ElementsAre("starvation/2000/1"));
  EXPECT_THAT(lab.labels(), testing::UnorderedElementsAre("victim", "attacker"));
  EXPECT_THAT(lab.values("num_gaps_expected"), ElementsAre(4));  // chunks of 512
  ASSERT_EQ(lab.values("speed_kept").size(), 1);
  EXPECT_GT(lab.values("speed_kept").at(0), 0);
  EXPECT_GE(lab.values("attacker_ttft_alone_ms").at(0), 2'000 * 0.02);
  // The attack began when the victim had spoken, and ended before it was done.
  const auto victim = std::ranges::find(lab.notes.requests, "victim", &RequestRecord::label);
  const auto attacker = std::ranges::find(lab.notes.requests, "attacker", &RequestRecord::label);
  EXPECT_GT(attacker->sent, victim->events.at(6).at);
  EXPECT_LT(attacker->events.at(0).at, victim->ended);
}

TEST(Starvation, HasVariants) {
  using Variant = ExperimentOptions::Starvation::Variant;
  for (const Variant variant : {Variant::two, Variant::stream, Variant::first}) {
    Lab lab;
    lab.options.starvation.attackers = {600};
    lab.options.starvation.num_tokens_victim = 40;
    lab.options.starvation.after = milliseconds(50);
    lab.options.starvation.variant = variant;
    lab.options.starvation.num_victims = 2;
    ASSERT_TRUE(lab.run(starvation_experiment));
    const auto labels = lab.labels();
    const auto num_attackers = std::ranges::count_if(
        labels, [](const std::string& label) { return label.starts_with("attacker"); });
    EXPECT_EQ(std::ranges::count(labels, "victim 2"), 1);
    EXPECT_GE(num_attackers, variant == Variant::two ? 2 : 1);
    EXPECT_EQ(lab.values("victim_ttft_queued_ms").size(), variant == Variant::first ? 2 : 0);
  }
}

TEST(Slope, RisesOnlyWhereItIsSure) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_TRUE(slope_of(x, std::vector<double>{1, 2, 2, 4, 5, 5, 7, 8, 8, 10}).rises);
  EXPECT_NEAR(slope_of(x, std::vector<double>{1, 2, 2, 4, 5, 5, 7, 8, 8, 10}).per_x, 0.98182, 1e-5);
  EXPECT_FALSE(slope_of(x, std::vector<double>{5, 9, 1, 7, 3, 8, 2, 9, 4, 6}).rises);
  EXPECT_FALSE(slope_of(x, std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}).rises);
  EXPECT_FALSE(slope_of(std::vector<double>(8, 1.0), std::vector<double>(8, 2.0)).rises);
}

TEST(Trace, IsReadLineByLine) {
  const auto trace = parse_trace(
      "{\"timestamp\": 1000, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, "
      "47]}\r\n"
      "\n"
      "{\"timestamp\": 1500.5, \"input_length\": 1, \"output_length\": 2}",
      "t");
  ASSERT_TRUE(trace) << to_string(trace.error());
  ASSERT_EQ(trace->size(), 2);
  EXPECT_EQ(trace->at(0).at, Nanoseconds(0));
  EXPECT_THAT(trace->at(0).blocks, ElementsAre(46, 47));
  EXPECT_EQ(trace->at(1).at, Nanoseconds(500'500'000));
  EXPECT_EQ(trace->at(1).num_tokens_out, 2);
}

TEST(Trace, NamesTheLineThatIsWrong) {
  const std::string good = "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1}\n";
  const std::pair<std::string, std::string> cases[] = {
      {"", "t: holds no request"},
      {good + "nonsense", "t, line 2"},
      {good + "[1]", "t, line 2"},
      {good + "{\"timestamp\": 4, \"input_length\": 1, \"output_length\": 1}",
       "t, line 2: is earlier than the line before it"},
      {"{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}", "t, line 1"},
      {"{\"timestamp\": 0, \"input_length\": 0, \"output_length\": 1}", "no token"},
      {"{\"timestamp\": 0, \"input_length\": 1e30, \"output_length\": 1}", "t, line 1"},
      {"{\"timestamp\": 0, \"input_length\": 1}", "output_length"},
      {std::string(std::size_t{2} << 20, ' ') + "{}", "t, line 1: is longer than"},
  };
  for (const auto& [text, why] : cases) {
    const auto trace = parse_trace(text, "t");
    ASSERT_FALSE(trace) << text.substr(0, 100);
    EXPECT_THAT(to_string(trace.error()), HasSubstr(why));
  }
}

}  // namespace
}  // namespace evener::bench
