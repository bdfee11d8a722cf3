// B. Are both devices there? pci-p2p.md, 7.2 and 2.4.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/bar_cause.h"
#include "doctor/finding.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

bool names_first_bars(std::string_view line) {
  return mentions(line, "BAR 0") || mentions(line, "BAR 1") || mentions(line, "BAR1 is 0M");
}

bool tells_of_no_place(std::string_view line) {
  return mentions(line, "can't assign") || mentions(line, "no space") ||
         mentions(line, "BAR1 is 0M");
}

// Log lines that name the card and say that one of its first two BARs found no place.
std::vector<std::string> lines_without_place(const Case& c, const Card& card) {
  std::vector<std::string> lines;
  for (const std::string& line : c.facts.log) {
    if (mentions(line, card.function->name) && names_first_bars(line) && tells_of_no_place(line)) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::vector<std::string> lost_bar_fixes(const Case& c, const Card& card) {
  if (card.small_bar_cause == "R35") return {};
  const bool has_none_high = card.root != nullptr && card.root->memory_64.size_bytes == 0;
  std::vector<std::string> fixes;
  if (has_none_high || card.root == nullptr || !card.root->memory_64.size_bytes) {
    fixes.emplace_back("F01");
  }
  fixes.insert(fixes.end(), {"F03", "F26"});
  fixes.emplace_back(c.adds_windows_without_gaps() ? "F20" : "F13");
  fixes.emplace_back("F24");
  return fixes;
}

std::optional<Outcome> judge_lost_bar(const Case& c, const Card& card) {
  if (card.function == nullptr) return {};
  const std::vector<std::string> lines = lines_without_place(c, card);
  const bool is_lost = card.has_lost_bar() || (!lines.empty() && !card.bar_bytes);
  if (!is_lost) return {};
  Outcome result = blocks("A card has lost a BAR: it has no address");
  Finding& found = result.finding;
  found.evidence.push_back(
      fmt::format("{}: BAR {} has no address", card.label(), card.bar ? card.bar->index : 0));
  found.evidence.insert(found.evidence.end(), lines.begin(), lines.end());
  if (card.maker == Maker::amd) {
    found.says.emplace_back(
        "Do not bind amdgpu to a device without BAR 0: the probe hangs until reboot.");
  }
  found.fixes = lost_bar_fixes(c, card);
  return result;
}

bool names_device(std::string_view line, const Card& card) {
  return card.function->id && mentions(line, to_string(*card.function->id));
}

const host::Function* first_without_routing(const Card& card) {
  for (const host::Function* port : card.way.ports) {
    if (port->atomics && port->atomics->routing == false) return port;
  }
  return nullptr;
}

std::optional<Outcome> judge_atomics(const Case& c, const Card& card) {
  if (card.function == nullptr || card.maker != Maker::amd || c.is_guest) return {};
  const auto line = std::ranges::find_if(c.facts.log, [&](const std::string& text) {
    return mentions(text, "rejects atomics") && names_device(text, card);
  });
  const host::Function* port = first_without_routing(card);
  const bool is_out = card.gpu->in_kfd == false;
  if (line == c.facts.log.end() && !(is_out && port != nullptr)) return {};
  // The log is history, and speaks of the model: another card of it may be meant.
  if (card.gpu->in_kfd == true) return {};
  Outcome result = blocks("ROCm leaves a card out: its slot does not route atomic operations");
  if (line != c.facts.log.end()) result.finding.evidence.push_back(*line);
  if (is_out) result.finding.evidence.push_back(card.label() + " is no KFD node");
  if (port != nullptr) {
    result.finding.evidence.push_back("first port upward without atomic routing: " + port->name);
  }
  result.finding.fixes = {"F31", "F09"};
  return result;
}

std::optional<Outcome> judge_driver(const Case&, const Card& card) {
  if (card.function == nullptr || !card.function->driver) return {};
  const std::string& driver = *card.function->driver;
  if (!driver.empty() && driver != "vfio-pci") return {};
  Outcome result = outcome(Finding::Severity::warning, "A card has no driver that could use peers",
                           Verdict::unknown);
  result.finding.evidence = {driver.empty()
                                 ? card.label() + ": no driver is bound"
                                 : card.label() + ": bound to vfio-pci, for a virtual machine"};
  result.finding.says = {"Bind its driver and look again: most of its facts come from there."};
  return result;
}

}  // namespace

const Rule r10{.id = "R10", .card = judge_lost_bar};
const Rule r11{.id = "R11", .card = judge_atomics};
const Rule r12{.id = "R12", .card = judge_driver};

}  // namespace evener::doctor
