#include "host/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace evener::host {
namespace {

constexpr const char* kAsRoot = "capture again as root: sudo evener snapshot";
constexpr const char* kWhole = "send a whole snapshot: sudo evener snapshot";

// The cards and all ports above them: the functions that the rules look at.
std::set<std::string> on_the_way(const HostFacts& facts) {
  std::set<std::string> names;
  for (const Gpu& gpu : facts.gpus) {
    names.insert(gpu.function);
    for (const Function* port : ancestors(facts, gpu.function).ports) names.insert(port->name);
  }
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kNamesMax = 6;
  std::string list;
  for (size_t i = 0; i < names.size() && i < kNamesMax; ++i) {
    list += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kNamesMax) list += fmt::format(" and {} more", names.size() - kNamesMax);
  return list;
}

std::string why_shallow(const Captured& captured, bool is_denied) {
  if (is_denied) return "lspci was not allowed to read the capabilities ('<access denied>')";
  if (!captured.has_lspci) return "there is no lspci.txt";
  return "lspci.txt has at most the first 64 or 256 bytes of their registers";
}

void add_registers(const Captured& captured, const Sightings& functions, HostFacts& facts) {
  std::vector<std::string> shallow;
  bool is_denied = false;
  const auto names = on_the_way(facts);
  for (const auto& [address, seen] : functions) {
    if (!names.contains(seen.function.name) || seen.depth == ConfigDepth::extended) continue;
    if (seen.function.acs && seen.function.acs->present) continue;
    shallow.push_back(seen.function.name);
    is_denied = is_denied || seen.access_denied;
  }
  if (shallow.empty()) return;
  facts.missing.push_back({"ACS control and Resizable BAR of " + list_of(shallow),
                           why_shallow(captured, is_denied), kAsRoot});
}

void add_gone(const Sightings& functions, HostFacts& facts) {
  for (const auto& [address, seen] : functions) {
    if (!seen.is_gone) continue;
    facts.missing.push_back(
        {"all registers of " + seen.function.name,
         "it answers with ones alone: it sleeps (D3cold) or has fallen off the bus",
         "wake it or power the machine off and on, then capture again"});
    if (facts.missing.size() > 100) return;
  }
}

void add_windows(const Captured& captured, HostFacts& facts) {
  const bool has_windows = std::ranges::any_of(
      facts.roots, [](const RootBus& root) { return root.memory_64.size_bytes.has_value(); });
  if (has_windows) return;
  std::string why = "there is no iomem.txt and no 'root bus resource' in the log";
  if (captured.iomem_is_hidden)
    why = "iomem.txt has only zeros: /proc/iomem is hidden without root";
  facts.missing.push_back({"the address windows of the host bridges", std::move(why), kAsRoot});
}

void add_cards(HostFacts& facts) {
  for (const Gpu& gpu : facts.gpus) {
    const std::string name = fmt::format("{} ({})", gpu.name, gpu.function);
    if (!gpu.vram_bytes) {
      facts.missing.push_back(
          {"the VRAM of " + name, "no driver's list or log line tells it", kWhole});
    }
    if (ancestors(facts, gpu.function).root == nullptr) {
      facts.missing.push_back({"what lies above " + name,
                               "no listing has all bridges between it and its root bus", kWhole});
    }
    if (facts.missing.size() > 100) return;
  }
}

void add_files(const Captured& captured, HostFacts& facts) {
  const char* remedy = captured.is_pasted ? kWhole : "capture again with evener snapshot";
  const auto need = [&](bool has, const char* what, const char* why) {
    if (!has) facts.missing.push_back({what, why, remedy});
  };
  need(captured.has_sysfs, "drivers, DMA masks and IOMMU groups", "there is no sysfs.tsv");
  need(captured.has_log, "what the kernel reported", "there is no kernel log (dmesg.txt)");
  need(captured.has_config, "the kernel's build options", "there is no kconfig.txt");
  need(captured.has_command_line, "the kernel's command line", "there is no cmdline.txt");
  need(captured.has_cpu, "the processor", "there is no cpu.txt");
  need(!captured.lspci_is_cut, "the end of lspci.txt", "it stops inside a device's registers");
}

}  // namespace

void add_missing(const Captured& captured, const Sightings& functions, HostFacts& facts) {
  add_registers(captured, functions, facts);
  add_gone(functions, facts);
  add_windows(captured, facts);
  add_cards(facts);
  add_files(captured, facts);
}

}  // namespace evener::host
