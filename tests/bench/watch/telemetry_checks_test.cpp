// Each rule in two samples: it fires, and it just does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/watch.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kCard = "0000:03:00.0";

// Two readings a second of a cell of ten seconds, and one before it.
class TelemetryChecks : public testing::Test {
 protected:
  TelemetryChecks() {
    for (int i = -1; i < 20; ++i) {
      TelemetryRow row;
      row.at = i * 500ms + 10s;
      row.sample.host = {.cpu_mhz_mean = 3000,
                         .cpu_mhz_min = 3000,
                         .cpu_mhz_cap = 3600,
                         .cpu_celsius = 60,
                         .cpu_power_w = 100,
                         .throttle_count = 7,
                         .load_average = 4,
                         .memory_available_bytes = 1 << 30,
                         .pages_swapped_in = 1000,
                         .cpu_pressure = 0.1,
                         .cpus_busy = 4,
                         .cpus_own = 4,
                         .cpus_stolen = 0};
      telemetry::CardReading card;
      card.bus = kCard;
      card.power_w = 250;
      card.power_cap_w = 290;
      card.core_mhz = 2000;
      card.core_mhz_max = 2700;
      card.busy = 0.9;
      row.sample.cards = {card};
      rows_.push_back(row);
    }
  }

  telemetry::HostReading& host(size_t i) { return rows_[i].sample.host; }
  telemetry::CardReading& card(size_t i) { return rows_[i].sample.cards[0]; }
  template <class Change>
  void each(Change change, size_t from = 0, size_t step = 1) {
    for (size_t i = from; i < rows_.size(); i += step) change(rows_[i].sample);
  }

  std::vector<Finding> check() { return check_telemetry(cell_, rows_, requests_, rules_); }
  // "clocks_moved voids: detail"
  std::vector<std::string> found() {
    std::vector<std::string> texts;
    for (const Finding& finding : check()) {
      const char* severity = finding.severity == Severity::voids     ? "voids"
                             : finding.severity == Severity::warning ? "warning"
                                                                     : "note";
      EXPECT_EQ(finding.cell, "sweep/1024/1");
      texts.push_back(std::string(to_word(finding.fault)) + " " + severity + ": " + finding.detail);
    }
    return texts;
  }

  CellRecord cell_{.key = "sweep/1024/1",
                   .experiment = "sweep",
                   .target = {},
                   .round = 1,
                   .began = 10s,
                   .ended = 20s,
                   .state = CellState::complete};
  std::vector<TelemetryRow> rows_;
  std::vector<Interval> requests_{{10s, 20s}};
  WatchRules rules_{.num_cpus = 8, .all_work_is_own = true, .claimed_cards = {}};
};

TEST_F(TelemetryChecks, AQuietMachineIsNotBlamed) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(TelemetryChecks, NothingKnownIsNothingFound) {
  rows_.clear();
  EXPECT_THAT(found(), IsEmpty());
  rows_.resize(3);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, ACapThatMovedVoidsWhicheverItIs) {
  card(9).power_cap_w = 300;
  EXPECT_THAT(found(),
              ElementsAre("clocks_moved voids: power cap of 0000:03:00.0 moved between 290 "
                          "and 300 W"));
  card(9).power_cap_w = 290;
  each([](telemetry::Sample& sample) { sample.cards[0].core_mhz_max = 1500; }, 15);
  EXPECT_THAT(found(),
              ElementsAre("clocks_moved voids: upper end of the core clock of 0000:03:00.0 "
                          "moved between 1500 and 2700 MHz"));
  each([](telemetry::Sample& sample) { sample.cards[0].core_mhz_max = 1500; });
  host(3).cpu_mhz_cap = 2400;
  EXPECT_THAT(found(), ElementsAre("clocks_moved voids: the cap of the processors' clock moved "
                                   "between 2400 and 3600 MHz"));
  host(3).cpu_mhz_cap = std::nullopt;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, AThrottleCounterThatRoseVoids) {
  each([](telemetry::Sample& sample) { sample.host.throttle_count = 9; }, 12);
  EXPECT_THAT(found(), ElementsAre("clocks_moved voids: the processors throttled 2 times"));
  // High, but not rising.
  each([](telemetry::Sample& sample) { sample.host.throttle_count = 9; });
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, ABusyCardThatSlowsItselfDownVoidsAndOneAtItsCapIsNoted) {
  card(5).throttle = {"thermal"};
  EXPECT_THAT(found(),
              ElementsAre("clocks_moved voids: 0000:03:00.0 ran slower for \"thermal\" in 1 "
                          "of 20 busy readings"));
  card(5).throttle = {"power"};
  EXPECT_THAT(found(),
              ElementsAre("clocks_moved note: 0000:03:00.0 ran slower for \"power\" in 1 of "
                          "20 busy readings"));
  card(5).busy = 0.49;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, AClockThatWentDownUnderWorkIsWarnedOf) {
  each([](telemetry::Sample& sample) { sample.cards[0].core_mhz = 1790; }, 11);
  EXPECT_THAT(found(),
              ElementsAre("clocks_moved warning: core clock of 0000:03:00.0 went from 2000 "
                          "to 1790 MHz while busy"));
  each([](telemetry::Sample& sample) { sample.cards[0].core_mhz = 1800; }, 11);
  EXPECT_THAT(found(), IsEmpty());
  // An idle card sinks by right.
  each(
      [](telemetry::Sample& sample) {
        sample.cards[0].core_mhz = 500;
        sample.cards[0].busy = 0;
      },
      11);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, MoreThanAMebibyteFromSwapIsWarnedOf) {
  each([](telemetry::Sample& sample) { sample.host.pages_swapped_in = 1256; }, 20);
  EXPECT_THAT(found(), ElementsAre("swapped warning: 256 pages came back from swap"));
  host(20).pages_swapped_in = 1255;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, OthersOnTheMachineAreWhatIsBusyBeyondTheRunsOwn) {
  each([](telemetry::Sample& sample) { sample.host.cpus_busy = 4.5; });
  EXPECT_THAT(found(), ElementsAre("busy_machine warning: others than this run had 0.50 of 8 "
                                   "processors"));
  each([](telemetry::Sample& sample) { sample.host.cpus_busy = 4.375; });
  EXPECT_THAT(found(), IsEmpty()) << "5 % of 8 are 0.4";
  // All of them, for the run itself.
  each([](telemetry::Sample& sample) { sample.host.cpus_busy = sample.host.cpus_own = 8; });
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, OfTwoProcessorsAFifthOfOneIsNothing) {
  rules_.num_cpus = 2;
  each([](telemetry::Sample& sample) { sample.host.cpus_busy = 4.1875; });
  EXPECT_THAT(found(), IsEmpty());
  each([](telemetry::Sample& sample) { sample.host.cpus_busy = 4.25; });
  EXPECT_EQ(found().size(), 1);
}

TEST_F(TelemetryChecks, WhatCameBeforeTheCellDoesNotMakeItBusy) {
  host(0).cpus_busy = 100;
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, TimeThatTheHypervisorGaveAwayIsNamed) {
  each([](telemetry::Sample& sample) { sample.host.cpus_stolen = 0.5; });
  EXPECT_THAT(found(), ElementsAre("busy_machine warning: the hypervisor gave 0.50 of 8 processors "
                                   "to others"));
  each([](telemetry::Sample& sample) { sample.host.cpus_stolen = 0.375; });
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, BesideAForeignServerOnlyTooMuchWorkCanBeSeen) {
  rules_.all_work_is_own = false;
  each([](telemetry::Sample& sample) {
    sample.host.cpus_busy = 8;
    sample.host.cpus_own = 0.1;
    sample.host.cpu_pressure = 0.5;
    sample.host.load_average = 12.5;
  });
  EXPECT_THAT(found(), ElementsAre("busy_machine warning: tasks waited for a processor 50 % of the "
                                   "time, load average 12.5 on 8 processors"));
  each([](telemetry::Sample& sample) { sample.host.load_average = 12; });
  EXPECT_THAT(found(), IsEmpty());
  each([](telemetry::Sample& sample) {
    sample.host.load_average = 20;
    sample.host.cpu_pressure = 0.25;
  });
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(TelemetryChecks, AClaimedCardMustHaveWorkedWhileRequestsRan) {
  rules_.claimed_cards = {kCard};
  EXPECT_THAT(found(), IsEmpty());
  each([](telemetry::Sample& sample) { sample.cards[0].busy = 0.1875; });
  EXPECT_THAT(found(), ElementsAre("card_idle voids: 0000:03:00.0 was busy for 19 % of the time at "
                                   "most, in 20 readings while requests ran"));
  card(7).busy = 0.2;
  EXPECT_THAT(found(), IsEmpty());
  // Work at another time is no proof.
  requests_ = {{10s, 12s}, {15s, 16s}};
  EXPECT_THAT(found(), ElementsAre("card_idle voids: 0000:03:00.0 was busy for 19 % of the time at "
                                   "most, in 8 readings while requests ran"));
}

TEST_F(TelemetryChecks, WithoutReadingsNothingIsProvenOfAClaimedCard) {
  rules_.claimed_cards = {"0000:0a:00.0"};
  EXPECT_THAT(found(),
              ElementsAre("card_idle note: nothing is proven of 0000:0a:00.0: 0 readings of "
                          "its activity while requests ran"));
}

TEST(ThermalDrift, IsTheDistanceToWhereTheFirstCellBegan) {
  const Temperatures first = {{"cpu", 50}, {kCard, 40}};
  EXPECT_THAT(check_drift("x", first, {{"cpu", 75}, {kCard, 55}}), IsEmpty());
  const auto found = check_drift("x", first, {{"cpu", 76}, {kCard, 56}, {"0000:0a:00.0", 99}});
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[0].fault, Fault::thermal_drift);
  EXPECT_EQ(found[0].detail, "0000:03:00.0 began at 56 degrees, in the first cell at 40");
  EXPECT_EQ(found[1].detail, "cpu began at 76 degrees, in the first cell at 50");
  EXPECT_EQ(check_drift("x", first, {{kCard, 24}}).size(), 1) << "a cold start differs as well";
}

TEST(ThermalDrift, TheJunctionCountsBeforeTheEdge) {
  telemetry::Sample sample;
  sample.cards.resize(2);
  sample.cards[0].bus = "a";
  sample.cards[0].edge_celsius = 50;
  sample.cards[1].bus = "b";
  sample.cards[1].edge_celsius = 50;
  sample.cards[1].junction_celsius = 70;
  EXPECT_EQ(temperatures_of(sample), (Temperatures{{"a", 50}, {"b", 70}}));
}

}  // namespace
}  // namespace evener::bench
