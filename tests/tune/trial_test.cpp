#include "tune/trial.h"

#include <gmock/gmock.h>

namespace evener::tune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const SearchSpace kTwo{.devices = {"cpu:0", "cpu:1"}, .num_layers = 32, .chunk = 512};

Outcome outcome(const Trial& trial, double prefill, double decode) {
  return {.trial = trial,
          .speeds = Speeds{.prefill = prefill, .decode = decode, .decode_streams = 2 * decode}};
}

std::vector<Outcome> alone(double first, double second) {
  return {outcome({.devices = {"cpu:0"}}, first, first / 10),
          outcome({.devices = {"cpu:1"}}, second, second / 10)};
}

std::vector<std::string> texts(const std::vector<Trial>& trials) {
  std::vector<std::string> all;
  for (const Trial& trial : trials) all.push_back(to_string(trial));
  return all;
}

TEST(Trials, BeginWithEachDeviceAlone) {
  const auto trials = trials_of(Wave::one, kTwo, {});
  ASSERT_EQ(trials.size(), 2);
  EXPECT_THAT(trials[0].devices, ElementsAre("cpu:0"));
  EXPECT_THAT(trials[1].devices, ElementsAre("cpu:1"));
  EXPECT_EQ(to_string(trials[0]), "one device");
}

TEST(Trials, ShareEvenlyAmongEqualDevices) {
  EXPECT_THAT(texts(trials_of(Wave::shards, kTwo, alone(100, 101))),
              ElementsAre("tp 2", "tp 2, 1.3:1", "tp 2, 1:1.3"));
}

TEST(Trials, ShareBySpeedAmongUnlikeDevices) {
  EXPECT_THAT(texts(trials_of(Wave::shards, kTwo, alone(160, 100))),
              ElementsAre("tp 2", "tp 2, 1.6:1", "tp 2, 2:1", "tp 2, 1.3:1"));
}

TEST(Trials, SplitLayersBySpeedInBothOrders) {
  EXPECT_THAT(texts(trials_of(Wave::stages, kTwo, alone(100, 100))),
              ElementsAre("2 stages, split 16, chunk 512", "2 stages, split 18, chunk 512",
                          "2 stages, split 14, chunk 512"));
  const auto unlike = trials_of(Wave::stages, kTwo, alone(300, 100));
  ASSERT_EQ(unlike.size(), 6);
  EXPECT_THAT(unlike[0].borders, ElementsAre(24));
  EXPECT_THAT(unlike[3].devices, ElementsAre("cpu:1", "cpu:0"));
  EXPECT_THAT(unlike[3].borders, ElementsAre(8));
}

TEST(Trials, CrossFourDevicesBothWays) {
  const SearchSpace four{.devices = {"a", "b", "c", "d"}, .num_layers = 10, .chunk = 512};
  EXPECT_THAT(
      texts(trials_of(Wave::stages, four, {})),
      ElementsAre("4 stages, split 3,5,8, chunk 512", "tp 2, 2 stages, split 5, chunk 512"));
  EXPECT_THAT(texts(trials_of(Wave::shards, four, {})), ElementsAre("tp 4"));
}

TEST(Trials, GiveEveryStageALayer) {
  SearchSpace narrow = kTwo;
  narrow.num_layers = 2;
  EXPECT_THAT(texts(trials_of(Wave::stages, narrow, alone(1000, 1))),
              ElementsAre("2 stages, split 1, chunk 512", "2 stages, split 1, chunk 512"));
  narrow.num_layers = 1;
  EXPECT_THAT(trials_of(Wave::stages, narrow, alone(1, 1)), IsEmpty());
}

TEST(Trials, ShortenTheChunksOfTheBestStages) {
  Trial slow{.devices = kTwo.devices, .num_stages = 2, .borders = {16}};
  Trial fast = slow;
  fast.borders = {18};
  const std::vector<Outcome> outcomes = {outcome(slow, 10, 1), outcome(fast, 20, 1)};
  EXPECT_THAT(texts(trials_of(Wave::chunks, kTwo, outcomes)),
              ElementsAre("2 stages, split 18, chunk 256", "2 stages, split 18, chunk 128"));
  EXPECT_THAT(trials_of(Wave::chunks, kTwo, {}), IsEmpty());
}

TEST(Trials, NeedTwoDevicesForMoreThanOne) {
  const SearchSpace one{.devices = {"cpu:0"}, .num_layers = 32};
  for (const Wave wave : {Wave::shards, Wave::stages, Wave::chunks}) {
    EXPECT_THAT(trials_of(wave, one, {}), IsEmpty());
  }
}

TEST(Winners, AreFoundForEachPhaseAndForARequest) {
  const Trial both{.devices = kTwo.devices, .num_shards = 2};
  std::vector<Outcome> outcomes = alone(100, 90);  // 10 and 9 decode
  outcomes.push_back(outcome(both, 80, 18));
  outcomes.push_back({.trial = both, .speeds = {}, .failure = "no"});
  const Winners chat = winners_of(outcomes, {.prompt_tokens = 100, .answer_tokens = 100});
  EXPECT_EQ(chat.prefill, 0);
  EXPECT_EQ(chat.decode, 2);
  EXPECT_EQ(chat.decode_streams, 2);
  EXPECT_EQ(chat.request, 2);
  EXPECT_EQ(chat.one_device, 0);
  const Winners reading = winners_of(outcomes, {.prompt_tokens = 10'000, .answer_tokens = 1});
  EXPECT_EQ(reading.request, 0);
}

TEST(Winners, AreNobodyWhereNothingWasMeasured) {
  const std::vector<Outcome> outcomes = {{.trial = {}, .speeds = {}, .failure = "no"}};
  EXPECT_FALSE(winners_of(outcomes, {}).request);
}

}  // namespace
}  // namespace evener::tune
