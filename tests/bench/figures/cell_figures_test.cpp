#include <gtest/gtest.h>

#include "bench/figures/make_record.h"
#include "bench/metrics.h"

namespace evener::bench {
namespace {

CellRecord cell_of_users(const std::string& users) {
  CellRecord cell;
  cell.key = "concurrency/2/0";
  cell.experiment = "concurrency";
  cell.target = {{"num_users", users}};
  return cell;
}

// Two users, two requests each; user 1 begins 1 s late and ends 1 s late.
//
//   ms        0    1000    2000    3000    4000    5000
//   user 0    [--------a--------]  [-----b-----]
//   user 1         [-----c-----]  [-------d-----------]
std::vector<RequestRecord> four_requests() {
  std::vector<RequestRecord> out = {
      make_record("concurrency/2/0", 0, {500, 1999}),
      make_record("concurrency/2/0", 2000, {2500, 3999}),
      make_record("concurrency/2/0", 1000, {1500, 2499}),
      make_record("concurrency/2/0", 2500, {3000, 4999}),
  };
  for (RequestRecord& r : out) r.num_tokens_cached = 25;
  return out;
}

TEST(CellFigures, PoolRequestsAndLookAtTheWholeWindow) {
  const CellFigures figures = cell_figures(cell_of_users("2"), four_requests(), {});
  EXPECT_EQ(figures.at("ttft_ms").n, 4);
  EXPECT_EQ(figures.at("ttft_ms").p50, 500);
  EXPECT_EQ(figures.at("event_gap_ms").n, 4);
  EXPECT_EQ(figures.at("event_gap_ms").max, 1999);
  EXPECT_EQ(figures.at("itl_ms").n, 4);
  EXPECT_DOUBLE_EQ(figures.at("output_tokens_per_s").p50, 8 / 5.0);
  EXPECT_DOUBLE_EQ(figures.at("total_tokens_per_s").p50, 408 / 5.0);
  EXPECT_DOUBLE_EQ(figures.at("requests_per_s").p50, 4 / 5.0);
  EXPECT_DOUBLE_EQ(figures.at("concurrency_achieved").p50, 8 / 5.0);  // 2 + 2 + 1.5 + 2.5 s
  EXPECT_DOUBLE_EQ(figures.at("cache_hit_share").p50, 0.25);
  // Both are served from 1000 to 4000 ms: 1500, 1999, 2499, 2500, 3000 and 3999 lie in it.
  EXPECT_DOUBLE_EQ(figures.at("output_plateau_tokens_per_s").p50, 6 / 3.0);
  for (const auto& [key, summary] : figures) EXPECT_NE(find_metric(key), nullptr) << key;
}

TEST(CellFigures, HaveNoPlateauWithoutATargetOrWhereItWasNotReached) {
  for (const char* users : {"3", "", "-1", "2x"}) {
    EXPECT_FALSE(cell_figures(cell_of_users(users), four_requests(), {})
                     .contains("output_plateau_tokens_per_s"))
        << users;
  }
}

TEST(CellFigures, GiveThePrefillRateOnlyOfPromptsThatWereAlone) {
  // Only a is: 75 tokens in 500 ms.
  const CellFigures of_four = cell_figures(cell_of_users("2"), four_requests(), {});
  EXPECT_EQ(of_four.at("prefill_tokens_per_s").n, 1);
  EXPECT_DOUBLE_EQ(of_four.at("prefill_tokens_per_s").p50, 150);
  // The second is sent when the first has begun to answer, so the first had the server alone.
  const std::vector<RequestRecord> two = {make_record("concurrency/2/0", 0, {500, 1999}),
                                          make_record("concurrency/2/0", 600, {1600})};
  const CellFigures figures = cell_figures(cell_of_users("2"), two, {});
  EXPECT_EQ(figures.at("prefill_tokens_per_s").n, 1);
  EXPECT_DOUBLE_EQ(figures.at("prefill_tokens_per_s").p50, 200);
}

TEST(CellFigures, LeaveOutWarmUpFailuresAndOtherCells) {
  std::vector<RequestRecord> requests = four_requests();
  requests[0].excluded = true;
  requests[1].finish = Finish::error;
  requests[2].cell = "concurrency/2/1";
  const CellFigures figures = cell_figures(cell_of_users("2"), requests, {});
  EXPECT_EQ(figures.at("ttft_ms").n, 1);
  // The failed one took its time: the window is from 2000 to 5000 ms.
  EXPECT_DOUBLE_EQ(figures.at("output_tokens_per_s").p50, 2 / 3.0);
}

TEST(CellFigures, DoNotGuessASumOfWhichAPartIsUnknown) {
  std::vector<RequestRecord> requests = four_requests();
  requests[0].num_tokens_out = std::nullopt;
  requests[0].events[0].num_tokens = 0;
  const CellFigures figures = cell_figures(cell_of_users("2"), requests, {});
  EXPECT_FALSE(figures.contains("output_tokens_per_s"));
  EXPECT_FALSE(figures.contains("output_plateau_tokens_per_s"));
  EXPECT_TRUE(figures.contains("requests_per_s"));
}

TEST(CellFigures, SpreadTokensOfMergedEventsOverThem) {
  std::vector<RequestRecord> requests = four_requests();
  for (RequestRecord& r : requests) {
    for (OutputEvent& event : r.events) event.num_tokens = 0;
    r.num_tokens_out = 20;
  }
  const CellFigures figures = cell_figures(cell_of_users("2"), requests, {});
  EXPECT_DOUBLE_EQ(figures.at("output_plateau_tokens_per_s").p50, 60 / 3.0);
  EXPECT_FALSE(figures.contains("itl_ms"));
}

// 40 tokens out, 30 of them proposed and taken of 50 proposed: 10 steps.
TEST(CellFigures, TellHowSpeculationWent) {
  std::vector<RequestRecord> requests = four_requests();
  for (RequestRecord& r : requests) r.num_tokens_out = 10;
  for (size_t i = 0; i < 4; ++i) {
    requests[i].server.num_drafted = i == 0 ? 20 : 10;
    requests[i].server.num_accepted = i == 0 ? 6 : 8;
  }
  const CellFigures figures = cell_figures(cell_of_users("2"), requests, {});
  EXPECT_DOUBLE_EQ(figures.at("accept_rate").p50, 0.6);
  EXPECT_DOUBLE_EQ(figures.at("accept_length").p50, 4);
}

TEST(CellFigures, TakeValuesAsSamplesAndEnergyByToken) {
  const CellRecord cell = cell_of_users("2");
  const std::vector<Value> values = {
      {.cell = cell.key, .key = "energy_j", .unit = "J", .value = 30},
      {.cell = cell.key, .key = "energy_j", .unit = "J", .value = 10},
      {.cell = cell.key, .key = "ttft_ms", .unit = "ms", .value = 1},
      {.cell = "other", .key = "score", .unit = "", .value = 1},
  };
  const CellFigures figures = cell_figures(cell, four_requests(), values);
  EXPECT_EQ(figures.at("energy_j").n, 2);
  EXPECT_DOUBLE_EQ(figures.at("energy_j_per_token").p50, 5);
  EXPECT_EQ(figures.at("ttft_ms").p50, 500) << "what requests give comes from them";
  EXPECT_FALSE(figures.contains("score"));
}

TEST(CellSamples, OfARoleHoldItsRequestsAlone) {
  std::vector<RequestRecord> requests = four_requests();
  requests[0].label = "victim";
  for (size_t i = 1; i < 4; ++i) requests[i].label = "attacker " + std::to_string(i);
  const CellRecord cell = cell_of_users("2");
  EXPECT_EQ(cell_samples(cell, requests, {}, "victim").at("e2e_ms"), std::vector<double>{2000});
  EXPECT_EQ(cell_samples(cell, requests, {}, "attacker").at("e2e_ms").size(), 3);
  EXPECT_EQ(cell_samples(cell, requests, {}).at("e2e_ms").size(), 4);
  EXPECT_EQ(cell_samples(cell, requests, {}, "victim").at("requests_per_s"),
            cell_samples(cell, requests, {}).at("requests_per_s"))
      << "what belongs to the cell is of all";
}

TEST(RoleOf, IsALabelWithoutItsNumbers) {
  EXPECT_EQ(role_of("victim"), "victim");
  EXPECT_EQ(role_of("attacker 3"), "attacker");
  EXPECT_EQ(role_of("user 3, turn 2"), "user");
  EXPECT_EQ(role_of("#12"), "");
  EXPECT_EQ(role_of(""), "");
}

TEST(CellFigures, OfNothingAreEmpty) {
  EXPECT_TRUE(cell_figures(cell_of_users("2"), {}, {}).empty());
}

}  // namespace
}  // namespace evener::bench
