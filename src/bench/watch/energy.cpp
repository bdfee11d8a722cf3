#include <algorithm>
#include <map>

#include "bench/watch.h"

namespace evener::bench {

std::optional<double> energy_j(const CellRecord& cell, std::span<const TelemetryRow> rows,
                               size_t num_cards) {
  double joules = 0;
  // The last readings: cards are asked at a pace of their own, and counters that were read a moment
  // ago say nothing yet.
  std::optional<double> cpu_w;
  std::map<std::string, double> card_w;
  Nanoseconds since = cell.began;
  for (const TelemetryRow& row : rows) {
    for (const telemetry::CardReading& card : row.sample.cards) {
      if (card.power_w) card_w[card.bus] = *card.power_w;
    }
    if (row.sample.host.cpu_power_w) cpu_w = row.sample.host.cpu_power_w;
    if (row.at < cell.began) continue;
    const Nanoseconds until = std::min(row.at, cell.ended);
    if (until <= since) continue;
    if (!cpu_w || card_w.size() < num_cards) return std::nullopt;
    double watts = *cpu_w;
    for (const auto& [bus, power] : card_w) watts += power;
    joules += watts * std::chrono::duration<double>(until - since).count();
    since = until;
  }
  const bool covered = since >= cell.ended && cell.ended > cell.began;
  return covered ? std::optional(joules) : std::nullopt;
}

}  // namespace evener::bench
