#include "telemetry/nvidia_smi.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "host/pci_address.h"
#include "host/run_program.h"
#include "host/text_lines.h"
#include "telemetry/quantity.h"

namespace evener::telemetry {
namespace {

constexpr std::string_view kFields =
    "pci.bus_id,name,power.draw,enforced.power.limit,temperature.gpu,temperature.memory,clocks.sm,"
    "clocks.max.sm,clocks.mem,utilization.gpu,memory.used,pcie.link.gen.current,"
    "pcie.link.width.current";
// The reasons of a lower clock changed their name with the driver; one field that it does not know
// makes the program refuse all.
constexpr std::array<std::string_view, 3> kReasonFields = {",clocks_event_reasons.active",
                                                           ",clocks_throttle_reasons.active", ""};

constexpr size_t kNumFields = 13;
constexpr size_t kCardsMax = 64;
constexpr std::chrono::milliseconds kFirstTimeMax{3'000};  // may have to start the driver

constexpr Quantity kWatts{1, 0, 10'000};
constexpr Quantity kCelsius{1, -100, 200};
constexpr Quantity kMegahertz{1, 1, 20'000};
constexpr Quantity kMebibytes{double(1 << 20), 0, double(uint64_t{1} << 50)};
constexpr Quantity kGeneration{1, 1, 7};

std::vector<std::string> reasons_in(std::string_view hex) {
  constexpr std::pair<uint64_t, std::string_view> kReasons[] = {
      {0x02, "clocks set"},        {0x04, "power"},
      {0x08, "hardware slowdown"}, {0x20, "thermal"},
      {0x40, "hardware thermal"},  {0x80, "power brake"},
  };
  const uint64_t bits = host::parse_uint(host::trim(hex), 16).value_or(0);
  std::vector<std::string> reasons;
  for (const auto& [bit, word] : kReasons) {
    if ((bits & bit) != 0) reasons.emplace_back(word);
  }
  return reasons;
}

std::optional<CardReading> card_in(std::string_view line) {
  const auto fields = host::split(line, ',');
  if (fields.size() < kNumFields || fields.size() > kNumFields + 1) return {};
  const auto address = host::parse_pci_address(host::trim(fields[0]));
  if (!address) return {};
  CardReading card;
  card.bus = host::to_string(*address);
  card.name = host::clean(host::trim(fields[1]));
  card.power_w = quantity_of(fields[2], kWatts);
  card.power_cap_w = quantity_of(fields[3], kWatts);
  card.edge_celsius = quantity_of(fields[4], kCelsius);
  card.memory_celsius = quantity_of(fields[5], kCelsius);
  card.core_mhz = quantity_of(fields[6], kMegahertz);
  card.core_mhz_max = quantity_of(fields[7], kMegahertz);
  card.memory_mhz = quantity_of(fields[8], kMegahertz);
  card.busy = quantity_of(fields[9], kPercent);
  if (const auto bytes = quantity_of(fields[10], kMebibytes)) {
    card.memory_used_bytes = uint64_t(*bytes);
  }
  constexpr double kGts[] = {2.5, 5, 8, 16, 32, 64, 128};
  if (const auto generation = quantity_of(fields[11], kGeneration)) {
    card.link_gts = kGts[size_t(*generation) - 1];
  }
  if (const auto width = quantity_of(fields[12], kLanes)) card.link_width = unsigned(*width);
  if (fields.size() > kNumFields) card.throttle = reasons_in(fields[kNumFields]);
  return card;
}

}  // namespace

NvidiaSmi::NvidiaSmi(std::string program) : program_(std::move(program)) {
  if (program_.empty()) return;
  for (size_t i = 0; i < kNumFieldLists; ++i) {
    fields_ = i;
    if (!read(kFirstTimeMax).empty()) return;
  }
  fields_ = kNumFieldLists;
}

std::vector<CardReading> NvidiaSmi::read(std::chrono::milliseconds time_max) {
  if (!answers()) return {};
  const auto csv = host::run_program(
      program_,
      {"--query-gpu=" + std::string(kFields) + std::string(kReasonFields[fields_]),
       "--format=csv,noheader,nounits"},
      {.time = time_max, .output_bytes = 65'536});
  return csv ? parse_nvidia_csv(*csv) : std::vector<CardReading>();
}

std::vector<CardReading> parse_nvidia_csv(std::string_view csv) {
  std::vector<CardReading> cards;
  host::each_line(csv, [&](std::string_view line) {
    auto card = card_in(line);
    if (card && cards.size() < kCardsMax) cards.push_back(std::move(*card));
  });
  return cards;
}

}  // namespace evener::telemetry
