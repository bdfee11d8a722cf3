#include <gtest/gtest.h>

#include "bench/watch.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

TelemetryRow row(Nanoseconds at, double cpu_w, std::map<std::string, double> cards = {}) {
  TelemetryRow made;
  made.at = at;
  made.sample.host.cpu_power_w = cpu_w;
  for (const auto& [bus, watts] : cards) {
    made.sample.cards.emplace_back().bus = bus;
    made.sample.cards.back().power_w = watts;
  }
  return made;
}

CellRecord cell_from(Nanoseconds began, Nanoseconds ended) {
  CellRecord cell;
  cell.began = began;
  cell.ended = ended;
  return cell;
}

TEST(Energy, IsPowerOverTheTimeThatAReadingStandsForWithinTheCell) {
  const std::vector<TelemetryRow> rows = {row(9s, 500), row(11s, 100), row(12s, 50), row(14s, 10)};
  // 1 s of 100 W, 1 s of 50 W, 1 s of 10 W: the rest lies outside.
  EXPECT_EQ(energy_j(cell_from(10s, 13s), rows, 0), 160);
}

// Cards are read at a pace of their own: between readings the last one holds.
TEST(Energy, TheLastReadingHoldsUntilTheNext) {
  std::vector<TelemetryRow> rows = {row(9s, 20, {{"a", 200}}), row(11s, 10),
                                    row(12s, 30, {{"a", 300}})};
  EXPECT_EQ(energy_j(cell_from(10s, 12s), rows, 1), 10 + 200 + 30 + 300);
  rows[1].sample.host.cpu_power_w.reset();
  EXPECT_EQ(energy_j(cell_from(10s, 12s), rows, 1), 20 + 200 + 30 + 300);
}

TEST(Energy, IsNotToldIfAPartOfTheMachineOrOfTheTimeIsUnknown) {
  std::vector<TelemetryRow> rows = {row(11s, 10, {{"a", 200}}), row(12s, 10, {{"a", 200}})};
  EXPECT_EQ(energy_j(cell_from(10s, 12s), rows, 1), 420);
  EXPECT_EQ(energy_j(cell_from(10s, 12s), rows, 2), std::nullopt) << "a second card says nothing";
  EXPECT_EQ(energy_j(cell_from(10s, 13s), rows, 1), std::nullopt) << "the last second was not seen";
  rows[0].sample.host.cpu_power_w.reset();
  EXPECT_EQ(energy_j(cell_from(10s, 12s), rows, 1), std::nullopt);
  EXPECT_EQ(energy_j(cell_from(10s, 12s), {}, 0), std::nullopt);
}

}  // namespace
}  // namespace evener::bench
