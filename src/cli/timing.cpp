#include "cli/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

namespace evener::cli {
namespace {

double milliseconds(WorkTimes::Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string time_line(std::string_view name, WorkTimes::Clock::duration time,
                      WorkTimes::Clock::duration whole, std::string_view calls) {
  const double share = whole.count() == 0 ? 0 : milliseconds(time) / milliseconds(whole);
  return fmt::format("{:<12}{:>12.1f} ms{:>8.1f} %{:>12}\n", name, milliseconds(time), 100 * share,
                     calls);
}

std::string times_text(const WorkTimes& times) {
  std::string text = fmt::format("{:<12}{:>15}{:>10}{:>12}\n", "", "time", "share", "calls");
  for (size_t kind = 0; kind < kWorkNames.size(); ++kind) {
    const WorkTimes::Entry& entry = times.of(static_cast<Work>(kind));
    if (entry.calls == 0) continue;
    text += time_line(kWorkNames[kind], entry.time, times.elapsed(), std::to_string(entry.calls));
  }
  text += time_line("all else", times.unnamed(), times.elapsed(), "");
  text += time_line("together", times.elapsed(), times.elapsed(), "");
  return text;
}

std::string spread_line(size_t layer, std::span<const uint64_t> uses) {
  const engine::ExpertSpread spread = engine::spread_of(uses);
  return fmt::format("{:>5}{:>12}{:>8} of {:<5}{:>11.1f} %{:>10.2f} of {:.2f} bits\n", layer,
                     spread.num_choices, spread.num_used, uses.size(), 100 * spread.top_share,
                     spread.entropy_bits, std::log2(double(uses.size())));
}

}  // namespace

void add_timing_option(CommandLine& line, bool& wanted) {
  line.add("--timing", wanted, "say at the end where the time went, on standard error");
}

std::string timing_text(const engine::WorkReport& report) {
  std::string text;
  if (report.ranks.empty() || report.times.elapsed().count() > 0) text += times_text(report.times);
  for (const engine::RankTimes& rank : report.ranks) {
    text += fmt::format("\n{}\n", rank.name) + times_text(*rank.times);
  }
  if (report.expert_uses.empty()) return text;
  text += fmt::format("\n{:>5}{:>12}{:>17}{:>13}{:>23}\n", "layer", "choices", "experts used",
                      "most used", "entropy");
  for (size_t layer = 0; layer < report.expert_uses.size(); ++layer) {
    text += spread_line(layer, report.expert_uses[layer]);
  }
  return text;
}

void print_timing(const engine::WorkReport& report) {
  fmt::print(stderr, "{}", timing_text(report));
}

}  // namespace evener::cli
