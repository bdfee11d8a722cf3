#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/file_tree.h"
#include "telemetry/hwmon.h"
#include "telemetry/pci_cards.h"
#include "telemetry/sample.h"

namespace evener::telemetry {

// A card of the amdgpu driver. A card that sleeps is not woken: its reading has its memory alone.
// Source: reference/telemetry/amdgpu.md.
class AmdCard {
 public:
  AmdCard(const host::FileTree& files, PciCard card);

  CardReading read(const host::FileTree& files) const;

 private:
  void read_power(const host::FileTree& files, CardReading& reading) const;
  void read_temperatures(const host::FileTree& files, CardReading& reading) const;
  void read_clocks(const host::FileTree& files, CardReading& reading) const;

  PciCard card_;
  std::string name_;
  std::string link_path_;
  std::string hwmon_path_;  // empty: none
  std::vector<Thermometer> thermometers_;
  std::optional<double> junction_critical_celsius_;
};

// The line of a table of clocks (pp_dpm_sclk, pp_dpm_mclk) with a star: the live clock in MHz.
// Nothing if none or several have one.
std::optional<double> starred_mhz(std::string_view table);

// What the core clock may reach as the card is set: the upper end in pp_od_clk_voltage, or where
// that has an offset instead, the last line of pp_dpm_sclk plus the offset. That line is a nominal
// clock which the card may pass by itself; a change of it is what counts. Lines are in order of
// their labels, so the last is the top even where one between is the live clock.
std::optional<double> core_mhz_max(std::string_view overdrive, std::string_view dpm_sclk);

// Why the card runs slower than it could ("power", "current", "thermal"), by the bits that mean
// the same on all chips, in gpu_metrics 1.3; other versions say nothing. Two bits lie: the one for
// the hotspot is nearly always set, and limits that have no bit show as the power limit. They
// count only where `reading` agrees.
std::vector<std::string> throttle_reasons(std::string_view gpu_metrics, const CardReading& reading,
                                          std::optional<double> junction_critical_celsius);

}  // namespace evener::telemetry
