#include "doctor/power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

struct BoardPower {
  std::string_view model;  // part of the card's name
  double watts = 0;        // total board power, as its maker states it
};

// The first that matches counts: longer names stand before those that they contain.
constexpr BoardPower kBoardPowers[] = {
    {"R9700", 300},   {"7900 XTX", 355}, {"7900 XT", 315},  {"7900 GRE", 260}, {"7800 XT", 263},
    {"7700 XT", 245}, {"7600 XT", 190},  {"9070 XT", 304},  {"9070", 220},     {"9060 XT", 160},
    {"6950 XT", 335}, {"6900 XT", 300},  {"6800 XT", 300},  {"6800", 250},     {"W7900", 295},
    {"W7800", 260},   {"W6800", 250},    {"WX 8200", 230},  {"WX 9100", 230},  {"Radeon VII", 300},
    {"MI25", 300},    {"MI50", 300},     {"MI60", 300},     {"MI100", 300},    {"MI210", 300},
    {"5090", 575},    {"5080", 360},     {"5070 Ti", 300},  {"4090", 450},     {"4080", 320},
    {"4070 Ti", 285}, {"3090 Ti", 450},  {"3090", 350},     {"3080 Ti", 350},  {"3080", 320},
    {"3060", 170},    {"2080 Ti", 250},  {"1080 Ti", 250},  {"P40", 250},      {"P100", 250},
    {"V100", 250},    {"A6000", 300},    {"5880 Ada", 285}, {"6000 Ada", 300}, {"A5000", 230},
    {"A4000", 140},   {"B580", 190},     {"B570", 150},     {"A770", 225},     {"A750", 225},
};

constexpr double kSocketWatts = 145;  // as large workstation CPUs draw
constexpr double kRestWatts = 75;     // board, memory, disks, fans
constexpr double kReserve = 1.25;     // supplies last and stay quiet at 80 % of what they give

struct Limit {
  double watts = 0;
  std::string_view source;
};

std::optional<Limit> limit_of(const host::Gpu& gpu) {
  if (gpu.power_limit_watts && *gpu.power_limit_watts > 0) {
    return Limit{*gpu.power_limit_watts, "its limit as set"};
  }
  for (const BoardPower& known : kBoardPowers) {
    if (mentions(gpu.model, known.model)) return Limit{known.watts, "its maker's figure"};
  }
  return {};
}

std::string spikes_line(double cards) {
  return fmt::format(
      "cards may draw up to twice their limit for some milliseconds: {:.0f} W of them on one "
      "supply want one that states what it bears in short",
      cards);
}

}  // namespace

PowerEstimate estimate_power(const Case& c) {
  PowerEstimate estimate;
  double cards = 0;
  bool all_known = !c.cards.empty();
  for (const Card& card : c.cards) {
    const auto limit = limit_of(*card.gpu);
    all_known = all_known && limit.has_value();
    estimate.arithmetic.push_back(
        limit ? fmt::format("{}: {:.0f} W, {}", card.label(), limit->watts, limit->source)
              : card.label() + ": limit not known");
    if (limit) cards += limit->watts;
  }
  if (!all_known) return estimate;
  const unsigned sockets = std::max(c.facts.machine.num_sockets.value_or(1), 1u);
  const double rest = sockets * kSocketWatts + kRestWatts;
  const double system = std::ceil((cards + rest) * kReserve / 50) * 50;
  estimate.cards_watts = cards;
  estimate.system_watts = system;
  estimate.arithmetic.push_back(
      fmt::format("rest: {} socket{} x {:.0f} W + {:.0f} W for board, memory and fans = {:.0f} W "
                  "(assumed)",
                  sockets, sockets == 1 ? "" : "s", kSocketWatts, kRestWatts, rest));
  estimate.arithmetic.push_back(
      fmt::format("({:.0f} + {:.0f}) x {} reserve = {:.0f} W", cards, rest, kReserve, system));
  estimate.arithmetic.push_back(spikes_line(cards));
  return estimate;
}

}  // namespace evener::doctor
