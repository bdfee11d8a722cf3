// C. Does the build, or the vendor, allow peers at all? pci-p2p.md, 2.1 and 4.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "doctor/amd_driver.h"
#include "doctor/finding.h"
#include "doctor/nvidia.h"
#include "doctor/rules/all.h"
#include "doctor/settings.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

std::vector<std::string> options_off(const host::Kernel& kernel) {
  static constexpr std::array kOptions = {"CONFIG_PCI_P2PDMA", "CONFIG_HSA_AMD_P2P",
                                          "CONFIG_DMABUF_MOVE_NOTIFY"};
  std::vector<std::string> off;
  for (const char* option : kOptions) {
    const auto value = setting(kernel.config, option);
    if (value && is_off(*value)) off.push_back(fmt::format("{} is not set", option));
  }
  const auto parameter = setting(kernel.module_parameters, "amdgpu.pcie_p2p");
  if (parameter && is_off(*parameter)) {
    off.push_back(fmt::format("amdgpu.pcie_p2p is {}", *parameter));
  }
  return off;
}

std::optional<Outcome> judge_build(const Case& c, const Pair& pair) {
  if (!pair.both(Maker::amd) || c.is_guest) return {};
  std::vector<std::string> evidence = options_off(c.facts.kernel);
  if (amd_driver(c) == AmdDriver::too_old) {
    evidence.push_back(
        fmt::format("kernel {}: peers over PCIe came with Linux 6.0", c.facts.kernel.release));
  }
  if (evidence.empty()) return {};
  Outcome result = blocks("This kernel does not offer peer access for AMD cards");
  result.finding.evidence = std::move(evidence);
  result.finding.fixes = {"F21"};
  return result;
}

std::optional<Outcome> judge_geforce(const Case& c, const Pair& pair) {
  if (!pair.both(Maker::nvidia) || c.is_guest || c.is_nvidia_patched()) return {};
  if (!is_refused_by_policy(*pair.a) && !is_refused_by_policy(*pair.b)) return {};
  const std::string reason = nvidia_reason(c, pair);
  const bool is_refused =
      reason == "GNS" || reason == "CNS" || reason == "NS" || pair.peers == Observation::refused;
  if (!is_refused) return {};
  Outcome result = blocks("NVIDIA's stock driver refuses peers on these GeForce cards by policy");
  result.finding.evidence = {reason.empty() ? "the driver reports no peer access"
                                            : "the driver's matrix says " + reason};
  result.finding.fixes = {"F27", "F29"};
  return result;
}

std::optional<Outcome> judge_chipset(const Case& c, const Pair& pair) {
  if (!pair.both(Maker::nvidia) || c.is_guest || pair.has("R21")) return {};
  if (nvidia_reason(c, pair) != "CNS") return {};
  Outcome result = blocks("NVIDIA's driver does not know this chipset and sees no switch it knows");
  result.finding.evidence = {"the driver's matrix says CNS (chipset not supported)"};
  result.finding.says = {
      "It looks up the device at 00:00.0 in a table of its own; a PCIe switch of a make that it "
      "recognises, above both cards, would do as well."};
  result.finding.fixes = {"F08"};
  return result;
}

}  // namespace

const Rule r20{.id = "R20", .pair = judge_build};
const Rule r21{.id = "R21", .pair = judge_geforce};
const Rule r22{.id = "R22", .pair = judge_chipset};

}  // namespace evener::doctor
