#include "doctor/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "doctor/diagnose.h"
#include "doctor/path.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::HostFacts;
using Lines = std::vector<std::string>;

constexpr std::string_view kUnknown = "not known";

void compare(Lines& lines, std::string_view what, const std::string& before,
             const std::string& now) {
  if (before == now) return;
  lines.push_back(fmt::format("{}: {} -> {}", what, before, now));
}

std::string text_or_unknown(const std::string& text) {
  return text.empty() ? std::string(kUnknown) : text;
}

std::string size_or_unknown(std::optional<uint64_t> bytes) {
  if (!bytes) return std::string(kUnknown);
  return *bytes == 0 ? "none" : window_text(*bytes);
}

std::string address_or_unknown(std::optional<uint64_t> address) {
  return address ? address_text(*address) : std::string(kUnknown);
}

std::string mode_text(std::optional<host::IommuMode> mode) {
  if (!mode) return std::string(kUnknown);
  switch (*mode) {
    case host::IommuMode::off:
      return "off";
    case host::IommuMode::identity:
      return "identity";
    case host::IommuMode::translated:
      return "translated";
  }
  return std::string(kUnknown);
}

std::string acs_state(const std::optional<host::Acs>& acs) {
  if (!acs) return std::string(kUnknown);
  return acs->present ? acs_text(acs->control) : "none";
}

std::string link_state(const std::optional<host::Link>& link) {
  if (!link || !link->now_gts || !link->now_width) return std::string(kUnknown);
  return fmt::format("{} GT/s x{}", *link->now_gts, *link->now_width);
}

void compare_machine(const HostFacts& before, const HostFacts& now, Lines& lines) {
  compare(lines, "BIOS", text_or_unknown(before.machine.bios), text_or_unknown(now.machine.bios));
  compare(lines, "kernel", text_or_unknown(before.kernel.release),
          text_or_unknown(now.kernel.release));
  compare(lines, "kernel command line", text_or_unknown(before.kernel.command_line.value_or("")),
          text_or_unknown(now.kernel.command_line.value_or("")));
  compare(lines, "IOMMU", mode_text(before.iommu), mode_text(now.iommu));
}

void compare_settings(const std::vector<host::Setting>& before,
                      const std::vector<host::Setting>& now, Lines& lines) {
  std::map<std::string_view, std::pair<std::string, std::string>> all;
  for (const host::Setting& setting : before) all[setting.name].first = setting.value;
  for (const host::Setting& setting : now) all[setting.name].second = setting.value;
  for (const auto& [name, values] : all) {
    compare(lines, name, text_or_unknown(values.first), text_or_unknown(values.second));
  }
}

void compare_roots(const HostFacts& before, const HostFacts& now, Lines& lines) {
  std::map<std::string_view, const host::RootBus*> old;
  for (const host::RootBus& root : before.roots) old.emplace(root.bus, &root);
  for (const host::RootBus& root : now.roots) {
    const auto at = old.find(root.bus);
    if (at == old.end()) continue;
    const std::string name = "window above 4 GiB of root bus " + root.bus;
    compare(lines, name, size_or_unknown(at->second->memory_64.size_bytes),
            size_or_unknown(root.memory_64.size_bytes));
    compare(lines, name + ", base", address_or_unknown(at->second->memory_64.base),
            address_or_unknown(root.memory_64.base));
  }
}

std::string driver_of(const host::Function& function) {
  if (!function.driver) return std::string(kUnknown);
  return function.driver->empty() ? "none" : *function.driver;
}

void compare_bars(const host::Function& before, const host::Function& now, Lines& lines) {
  for (const host::Bar& bar : now.bars) {
    const auto old = std::ranges::find(before.bars, bar.index, &host::Bar::index);
    if (old == before.bars.end()) continue;
    const std::string name = fmt::format("{}, BAR {}", now.name, bar.index);
    compare(lines, name, size_or_unknown(old->size_bytes), size_or_unknown(bar.size_bytes));
    compare(lines, name + ", address", address_or_unknown(old->base), address_or_unknown(bar.base));
  }
}

void compare_function(const host::Function& before, const host::Function& now, Lines& lines) {
  compare(lines, now.name + ", port above", text_or_unknown(before.parent),
          text_or_unknown(now.parent));
  compare(lines, now.name + ", driver", driver_of(before), driver_of(now));
  compare_bars(before, now, lines);
  if (!now.is_bridge) return;
  compare(lines, now.name + ", window", size_or_unknown(before.prefetchable.size_bytes),
          size_or_unknown(now.prefetchable.size_bytes));
  compare(lines, now.name + ", ACS", acs_state(before.acs), acs_state(now.acs));
  compare(lines, now.name + ", link", link_state(before.link), link_state(now.link));
}

// Only what is above cards, and the cards: a machine has many functions.
std::set<std::string> names_of_interest(const HostFacts& facts) {
  std::set<std::string> names;
  const Topology topology(facts);
  for (const host::Gpu& gpu : facts.gpus) {
    const host::Function* function = topology.find(gpu.function);
    if (function == nullptr || names.size() > kCardsMax * kCardsMax) continue;
    names.insert(function->name);
    for (const host::Function* port : topology.way_up(*function).ports) names.insert(port->name);
  }
  return names;
}

void compare_functions(const HostFacts& before, const HostFacts& now, Lines& lines) {
  const Topology old_tree(before);
  const Topology new_tree(now);
  const std::set<std::string> old_names = names_of_interest(before);
  for (const std::string& name : names_of_interest(now)) {
    const host::Function* old = old_tree.find(name);
    if (old == nullptr) {
      lines.push_back(name + ": new");
    } else {
      compare_function(*old, *new_tree.find(name), lines);
    }
  }
  for (const std::string& name : old_names) {
    if (new_tree.find(name) == nullptr) lines.push_back(name + ": gone");
  }
}

std::string verdict_of(const PairReport& pair) {
  std::string text(to_string(pair.verdict));
  if (pair.verified) text += ", verified";
  return text;
}

void compare_pairs(const Report& before, const Report& now, Lines& lines) {
  std::map<std::string, const PairReport*> old;
  for (const PairReport& pair : before.pairs) old.emplace(pair.a + "-" + pair.b, &pair);
  for (const PairReport& pair : now.pairs) {
    const std::string name = pair.a + "-" + pair.b;
    const auto at = old.find(name);
    compare(lines, name, at == old.end() ? "not there" : verdict_of(*at->second), verdict_of(pair));
  }
}

// A rule's finding that asks for something, by its id.
std::map<std::string, std::string> open_rules(const Report& report) {
  std::map<std::string, std::string> rules;
  for (const Finding& finding : report.findings) {
    if (finding.severity >= Finding::Severity::warning) rules.emplace(finding.rule, finding.title);
  }
  return rules;
}

void compare_rules(const Report& before, const Report& now, Lines& lines) {
  const auto old = open_rules(before);
  const auto open = open_rules(now);
  for (const auto& [rule, title] : old) {
    if (!open.contains(rule)) lines.push_back(fmt::format("{} no longer applies: {}", rule, title));
  }
  for (const auto& [rule, title] : open) {
    if (!old.contains(rule)) lines.push_back(fmt::format("{} applies now: {}", rule, title));
  }
}

}  // namespace

Changes changes(const HostFacts& before, const HostFacts& now) {
  Changes result;
  compare_machine(before, now, result.facts);
  compare_settings(before.kernel.config, now.kernel.config, result.facts);
  compare_settings(before.kernel.module_parameters, now.kernel.module_parameters, result.facts);
  compare_roots(before, now, result.facts);
  compare_functions(before, now, result.facts);
  const Report old_report = diagnose(before);
  const Report new_report = diagnose(now);
  compare_pairs(old_report, new_report, result.verdicts);
  compare_rules(old_report, new_report, result.verdicts);
  return result;
}

}  // namespace evener::doctor
