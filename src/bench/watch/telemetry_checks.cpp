#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "bench/watch.h"

namespace evener::bench {
namespace {

using telemetry::CardReading;
using telemetry::HostReading;

constexpr double kBusy = 0.5;  // share of the time from which a card's clock says something
constexpr double kClockShift = 0.10;
constexpr size_t kNumReadingsMin = 4;  // of half a cell
constexpr uint64_t kPagesSwapped = 256;
constexpr double kShareOfOthers = 0.05;  // of all processors
constexpr double kCpusOfOthers = 0.2;
constexpr double kPressure = 0.25;
constexpr double kLoadACpu = 1.5;
constexpr double kWorked = 0.2;

// The readings of one number in a cell.
struct Series {
  std::vector<double> values;

  void add(const std::optional<double>& value) {
    if (value) values.push_back(*value);
  }
  bool changed() const {
    return std::ranges::any_of(values, [&](double value) { return value != values.front(); });
  }
  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / double(values.size());
  }
};

template <class Field>
Series host_series(std::span<const TelemetryRow> rows, Field field) {
  Series series;
  for (const TelemetryRow& row : rows) series.add(row.sample.host.*field);
  return series;
}

// One card's readings in order of time.
std::vector<const CardReading*> readings_of(std::span<const TelemetryRow> rows,
                                            const std::string& bus) {
  std::vector<const CardReading*> readings;
  for (const TelemetryRow& row : rows) {
    for (const CardReading& card : row.sample.cards) {
      if (card.bus == bus) readings.push_back(&card);
    }
  }
  return readings;
}

class Judge {
 public:
  Judge(const CellRecord& cell, std::span<const TelemetryRow> rows,
        std::span<const Interval> requests, const WatchRules& rules)
      : cell_(cell), rows_(rows), requests_(requests), rules_(rules) {
    // Those in the cell: what a reading tells of the time before it began is none of its business.
    size_t before = 0;
    while (before < rows.size() && rows[before].at < cell.began) ++before;
    inside_ = rows.subspan(before);
  }

  std::vector<Finding> run() {
    check_processor_clocks();
    std::set<std::string> buses;
    for (const TelemetryRow& row : rows_) {
      for (const CardReading& card : row.sample.cards) buses.insert(card.bus);
    }
    for (const std::string& bus : buses) check_card_clocks(bus);
    check_swap();
    check_others();
    for (const std::string& bus : rules_.claimed_cards) check_work(bus);
    return std::move(findings_);
  }

 private:
  void add(Fault fault, Severity severity, std::string detail) {
    findings_.push_back({fault, severity, cell_.key, {}, std::move(detail)});
  }

  // A limit that should stand still.
  void check_setting(std::string_view what, std::string_view unit, const Series& series) {
    if (!series.changed()) return;
    const auto [low, high] = std::ranges::minmax(series.values);
    add(Fault::clocks_moved, Severity::voids,
        fmt::format("{} moved between {:g} and {:g} {}", what, low, high, unit));
  }

  void check_processor_clocks() {
    check_setting("the cap of the processors' clock", "MHz",
                  host_series(rows_, &HostReading::cpu_mhz_cap));
    std::vector<uint64_t> counts;
    for (const TelemetryRow& row : rows_) {
      if (row.sample.host.throttle_count) counts.push_back(*row.sample.host.throttle_count);
    }
    if (counts.empty() || counts.back() <= counts.front()) return;
    add(Fault::clocks_moved, Severity::voids,
        fmt::format("the processors throttled {} times", counts.back() - counts.front()));
  }

  void check_card_clocks(const std::string& bus) {
    Series cap;
    Series clock_max;
    Series busy_clock;
    for (const CardReading* card : readings_of(rows_, bus)) {
      cap.add(card->power_cap_w);
      clock_max.add(card->core_mhz_max);
    }
    std::map<std::string, size_t> reasons;
    size_t num_busy = 0;
    for (const CardReading* card : readings_of(inside_, bus)) {
      if (card->busy.value_or(0) < kBusy) continue;
      ++num_busy;
      busy_clock.add(card->core_mhz);
      for (const std::string& reason : card->throttle) ++reasons[reason];
    }
    check_setting("power cap of " + bus, "W", cap);
    check_setting("upper end of the core clock of " + bus, "MHz", clock_max);
    for (const auto& [reason, count] : reasons) {
      add(Fault::clocks_moved, reason == "power" ? Severity::note : Severity::voids,
          fmt::format("{} ran slower for \"{}\" in {} of {} busy readings", bus, reason, count,
                      num_busy));
    }
    check_shift(bus, busy_clock.values);
  }

  void check_shift(const std::string& bus, const std::vector<double>& clocks) {
    const size_t half = clocks.size() / 2;
    if (half < kNumReadingsMin) return;
    const auto median = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return values[values.size() / 2];
    };
    const auto middle = clocks.begin() + std::ptrdiff_t(half);
    const double first = median({clocks.begin(), middle});
    const double second = median({middle, clocks.end()});
    if (std::abs(second - first) <= kClockShift * first) return;
    add(Fault::clocks_moved, Severity::warning,
        fmt::format("core clock of {} went from {:.0f} to {:.0f} MHz while busy", bus, first,
                    second));
  }

  void check_swap() {
    std::vector<uint64_t> pages;
    for (const TelemetryRow& row : rows_) {
      if (row.sample.host.pages_swapped_in) pages.push_back(*row.sample.host.pages_swapped_in);
    }
    if (pages.empty() || pages.back() < pages.front() + kPagesSwapped) return;
    add(Fault::swapped, Severity::warning,
        fmt::format("{} pages came back from swap", pages.back() - pages.front()));
  }

  void check_others() {
    if (rules_.num_cpus == 0) return;
    const auto num_cpus = double(rules_.num_cpus);
    const double limit = std::max(kShareOfOthers * num_cpus, kCpusOfOthers);
    const Series stolen = host_series(inside_, &HostReading::cpus_stolen);
    if (!stolen.values.empty() && stolen.mean() > kShareOfOthers * num_cpus) {
      add(Fault::busy_machine, Severity::warning,
          fmt::format("the hypervisor gave {:.2f} of {} processors to others", stolen.mean(),
                      rules_.num_cpus));
    }
    if (!rules_.all_work_is_own) return check_pressure();
    Series others;
    for (const TelemetryRow& row : inside_) {
      const HostReading& host = row.sample.host;
      if (host.cpus_busy && host.cpus_own)
        others.values.push_back(*host.cpus_busy - *host.cpus_own);
    }
    if (others.values.empty() || others.mean() <= limit) return;
    add(Fault::busy_machine, Severity::warning,
        fmt::format("others than this run had {:.2f} of {} processors", others.mean(),
                    rules_.num_cpus));
  }

  // Whose the work is cannot be told, but that it was too much can.
  void check_pressure() {
    const Series pressure = host_series(inside_, &HostReading::cpu_pressure);
    const Series load = host_series(inside_, &HostReading::load_average);
    if (pressure.values.empty() || load.values.empty()) return;
    const double load_max = kLoadACpu * double(rules_.num_cpus);
    if (pressure.mean() <= kPressure || load.mean() <= load_max) return;
    add(Fault::busy_machine, Severity::warning,
        fmt::format("tasks waited for a processor {:.0f} % of the time, load "
                    "average {:.1f} on {} "
                    "processors",
                    pressure.mean() * 100, load.mean(), rules_.num_cpus));
  }

  void check_work(const std::string& bus) {
    Series busy;
    for (const TelemetryRow& row : inside_) {
      const bool running = std::ranges::any_of(requests_, [&](const Interval& request) {
        return row.at >= request.began && row.at <= request.ended;
      });
      if (!running) continue;
      for (const CardReading& card : row.sample.cards) {
        if (card.bus == bus) busy.add(card.busy);
      }
    }
    const size_t count = busy.values.size();
    const double most = count == 0 ? 0 : std::ranges::max(busy.values);
    if (most >= kWorked) return;
    if (count < 2) {
      add(Fault::card_idle, Severity::note,
          fmt::format("nothing is proven of {}: {} readings of its activity "
                      "while requests ran",
                      bus, count));
      return;
    }
    add(Fault::card_idle, Severity::voids,
        fmt::format("{} was busy for {:.0f} % of the time at most, in {} "
                    "readings while requests "
                    "ran",
                    bus, most * 100, count));
  }

  const CellRecord& cell_;
  std::span<const TelemetryRow> rows_;
  std::span<const TelemetryRow> inside_;
  std::span<const Interval> requests_;
  const WatchRules& rules_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_telemetry(const CellRecord& cell, std::span<const TelemetryRow> rows,
                                     std::span<const Interval> requests, const WatchRules& rules) {
  return Judge(cell, rows, requests, rules).run();
}

Temperatures temperatures_of(const telemetry::Sample& sample) {
  Temperatures temperatures;
  if (sample.host.cpu_celsius) temperatures["cpu"] = *sample.host.cpu_celsius;
  for (const CardReading& card : sample.cards) {
    const auto celsius = card.junction_celsius ? card.junction_celsius : card.edge_celsius;
    if (celsius) temperatures[card.bus] = *celsius;
  }
  return temperatures;
}

std::vector<Finding> check_drift(const std::string& cell, const Temperatures& first,
                                 const Temperatures& here) {
  constexpr double kCardDrift = 15;
  constexpr double kCpuDrift = 25;  // a package follows its load within a second
  std::vector<Finding> findings;
  for (const auto& [part, celsius] : here) {
    const auto at = first.find(part);
    if (at == first.end()) continue;
    if (std::abs(celsius - at->second) <= (part == "cpu" ? kCpuDrift : kCardDrift)) continue;
    findings.push_back({Fault::thermal_drift,
                        Severity::warning,
                        cell,
                        {},
                        fmt::format("{} began at {:.0f} degrees, in the first cell at {:.0f}", part,
                                    celsius, at->second)});
  }
  return findings;
}

}  // namespace evener::bench
