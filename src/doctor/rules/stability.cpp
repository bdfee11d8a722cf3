// G. Is it safe, where it is let through? pci-p2p.md, 1.4, 1.5 and 7.2.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/finding.h"
#include "doctor/path.h"
#include "doctor/reach.h"
#include "doctor/rules/all.h"
#include "doctor/stability_words.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using host::IommuMode;

bool is_refused(const Pair& pair) {
  return pair.verdict == Verdict::blocked || pair.peers == Observation::refused;
}

bool is_translated(const Pair& pair) {
  return pair.a->iommu == IommuMode::translated || pair.b->iommu == IommuMode::translated;
}

bool hangs_with_iommu(const Case& c) {
  const std::string& stability = c.facts.observed.stability;
  return tells_of_hangs(stability) && (mentions(stability, "iommu") || c.logs("iommu=pt"));
}

bool is_out_of_reach(const Pair& pair) {
  for (const Direction& way : {Direction{pair.a, pair.b}, Direction{pair.b, pair.a}}) {
    if (reach(way) == Reach::translated) return true;
  }
  return false;
}

std::vector<std::string> iommu_fixes(const Pair& pair) {
  // Identity mode would take away what only the translation reaches.
  if (is_out_of_reach(pair)) return {"F04", "F06", "F29"};
  return {"F06", "F07", "F29"};
}

std::string reported(const Case& c) {
  return "the report says: \"" + c.facts.observed.stability + "\"";
}

std::optional<Outcome> judge_iommu(const Case& c, const Pair& pair) {
  if (is_refused(pair) || !is_translated(pair)) return {};
  const bool by_driver = pair.both(Maker::nvidia) && c.is_nvidia_patched();
  if (!by_driver && !hangs_with_iommu(c)) return {};
  Outcome result = is_unsafe("The IOMMU translates, with which collectives hang");
  Finding& found = result.finding;
  found.evidence = {fmt::format("IOMMU mode: translated{}", assumed_mark(c, "iommu"))};
  if (hangs_with_iommu(c)) found.evidence.push_back(reported(c));
  for (const std::string& line : c.facts.log) {
    if (mentions(line, "iommu=pt")) add_new(found.evidence, line);
  }
  found.says = {
      "iommu=pt cured it on machines with AMD cards, intel_iommu=off cured the hang on one with "
      "NVIDIA cards.",
      "Before changing: both BARs must end below 2^44 (16 TiB), else identity mode removes peer "
      "access between AMD cards."};
  found.fixes = iommu_fixes(pair);
  return result;
}

// Entries that upstream has, in whatever release, were tested by somebody.
bool is_untested(const ListPatch& patch) {
  return patch.ids.empty() ||
         std::ranges::any_of(patch.ids, [](host::PciId id) { return find_entry(id) == nullptr; });
}

std::optional<Outcome> judge_forced_entry(const Case& c, const Pair& pair) {
  if (is_refused(pair) || !pair.asks_kernel() || c.has_passed_check()) return {};
  if (pair.route == Route::same_switch) return {};  // the list is not asked
  Outcome result = is_unsafe("The kernel's list has an entry that nobody upstream has tested");
  for (const ListPatch& patch : c.patches_of_list) {
    if (is_untested(patch)) result.finding.evidence.push_back("patch: " + patch.text);
  }
  if (result.finding.evidence.empty()) return {};
  result.finding.says = {
      "On a bridge that cannot do it the copy reports success and the bytes are wrong: check data "
      "before any use."};
  result.finding.fixes = {"F30"};
  return result;
}

std::vector<const host::Function*> redirecting_ports(const Pair& pair) {
  return pair.path.redirecting;
}

void add_redirects(const Pair& pair, Finding& found) {
  for (const host::Function* port : redirecting_ports(pair)) {
    add_new(found.evidence, fmt::format("ACS control of {}: {:#06x} = {}", port->name,
                                        port->acs->control, acs_text(port->acs->control)));
  }
  if (found.evidence.empty() || redirecting_ports(pair).empty()) return;
  found.says.emplace_back(
      "Clearing redirect with setpci is lost at reboot; pci=disable_acs_redir= keeps it off. "
      "pci=noacs is not a mainline option.");
}

std::optional<Outcome> judge_failed_check(const Case& c, const Pair& pair) {
  if (is_refused(pair) || !c.has_failed_check()) return {};
  Outcome result = is_unsafe("A data check failed: peer copies deliver wrong bytes");
  Finding& found = result.finding;
  found.evidence = {c.facts.observed.data_check == "fail" ? "data check: fail" : reported(c)};
  found.says = {"Peer access must be off until the cause is found and a check passes."};
  found.fixes = {"F29"};
  if (pair.path.redirects()) found.fixes.insert(found.fixes.end(), {"F11", "F10"});
  add_redirects(pair, found);
  if (!c.patches_of_list.empty()) {
    found.says.emplace_back("If redirect is off: take the forced list entry out again.");
  }
  return result;
}

std::optional<Outcome> judge_hangs(const Case& c, const Pair& pair) {
  const std::string& stability = c.facts.observed.stability;
  if (is_refused(pair) || pair.has("R60") || pair.has("R62")) return {};
  if (!tells_of_hangs(stability) || !mentions(stability, "p2p")) return {};
  Outcome result = is_unsafe("The machine hangs or resets only with peer access on");
  Finding& found = result.finding;
  found.evidence = {reported(c)};
  add_redirects(pair, found);
  if (pair.path.redirects()) found.fixes = {"F11", "F10"};
  found.fixes.emplace_back("F29");
  found.says.emplace_back(
      "The cause is open: collect AER counters, link readings under load and power figures.");
  return result;
}

}  // namespace

const Rule r60{.id = "R60", .pair = judge_iommu};
const Rule r61{.id = "R61", .pair = judge_forced_entry};
const Rule r62{.id = "R62", .pair = judge_failed_check};
const Rule r63{.id = "R63", .pair = judge_hangs};

}  // namespace evener::doctor
