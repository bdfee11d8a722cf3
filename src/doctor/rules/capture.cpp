// A. Is what was captured enough, and true? pci-p2p.md, 7.2.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/finding.h"
#include "doctor/nvidia.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Severity = Finding::Severity;

constexpr size_t kMissingShown = 12;

bool is_open(const Case& c, const Pair& pair) {
  return pair.verdict <= Verdict::unknown && !pair.gaps.empty() &&
         pair.peers == Observation::none && !c.has_passed_check();
}

std::optional<Finding> judge_missing(const Case& c) {
  if (c.facts.missing.empty()) return {};
  const bool matters =
      std::ranges::any_of(c.pairs, [&](const Pair& pair) { return is_open(c, pair); });
  Finding result = finding(matters ? Severity::warning : Severity::note,
                           "Some facts could not be read; what they decide stays unknown");
  for (const host::Missing& missing : c.facts.missing) {
    if (result.evidence.size() == kMissingShown) {
      result.evidence.push_back(fmt::format("and {} more", c.facts.missing.size() - kMissingShown));
      break;
    }
    result.evidence.push_back(missing.what + ": " + missing.why);
    if (!missing.remedy.empty()) add_new(result.says, missing.remedy);
  }
  result.fixes = {"F00"};
  return result;
}

std::optional<Outcome> judge_open_pair(const Case& c, const Pair& pair) {
  if (c.facts.missing.empty() || !is_open(c, pair)) return {};
  Outcome result =
      outcome(Severity::warning, "Some facts could not be read; what they decide stays unknown",
              Verdict::unknown);
  result.finding.fixes = {"F00"};
  return result;
}

Finding guest_finding(const Case& c) {
  Finding result = finding(Severity::problem, "This is a virtual machine");
  for (const host::RootBus& root : c.facts.roots) {
    if (!root.first.id || root.bus != "0000:00") continue;
    result.evidence.push_back(
        fmt::format("00:00.0 is {}: this is a virtual machine, read BARs and ACS on the host",
                    to_string(*root.first.id)));
  }
  if (result.evidence.empty()) result.evidence.emplace_back("the CPU reports a hypervisor");
  result.says = {
      "The size list in a guest is what the hypervisor shows, not the card's list.",
      "A grant that the hypervisor fakes has sent data astray before: treat it as unsafe.",
  };
  result.fixes = {"F00"};
  return result;
}

std::optional<Finding> judge_guest(const Case& c) {
  if (!c.is_guest || c.cards.empty()) return {};
  Finding result = guest_finding(c);
  if (c.pairs.empty()) result.severity = Severity::note;
  return result;
}

std::optional<Outcome> judge_guest_pair(const Case& c, const Pair& pair) {
  if (!c.is_guest) return {};
  Outcome result;
  result.finding = guest_finding(c);
  result.verdict = Verdict::unknown;
  if (pair.both(Maker::nvidia) && nvidia_reason(c, pair) == "CNS") {
    result.verdict = Verdict::blocked;
    result.finding.says.emplace_back(
        "CNS (chipset not supported) comes from the emulated bridge at 00:00.0, whatever the host "
        "can do: in this guest peer access is refused.");
    result.finding.fixes.emplace_back("F29");
  }
  return result;
}

bool starts_with_address(std::string_view text) {
  const size_t end = text.find_first_of(",; ");
  return host::parse_pci_address(text.substr(0, end)).has_value();
}

// "pci=disable_acs_redir=A,B": the kernel takes what follows the comma for another option of pci=.
void look_for_commas(std::string_view command_line, std::string_view option, Finding& result) {
  for (size_t at = command_line.find(option); at != std::string_view::npos;
       at = command_line.find(option, at + 1)) {
    const std::string_view rest = command_line.substr(at + option.size());
    const std::string_view value = rest.substr(0, rest.find(' '));
    for (size_t comma = value.find(','); comma != std::string_view::npos;
         comma = value.find(',', comma + 1)) {
      if (!starts_with_address(value.substr(comma + 1))) continue;
      result.evidence.push_back(fmt::format(
          "{}: devices are separated by ; and a comma ends the list, so only those before it count",
          option));
      return;
    }
  }
}

void look_for_noacs(std::string_view command_line, Finding& result) {
  if (!mentions(command_line, "noacs")) return;
  result.evidence.emplace_back("pci=noacs is not a mainline option: no mainline kernel knows it");
}

std::optional<Finding> judge_command_line(const Case& c) {
  Finding result =
      finding(Severity::warning, "An option on the kernel command line is not in force");
  for (const std::string& line : c.facts.kernel.unknown_options) result.evidence.push_back(line);
  const std::string command_line = c.facts.kernel.command_line.value_or("");
  look_for_commas(command_line, "disable_acs_redir=", result);
  look_for_commas(command_line, "config_acs=", result);
  look_for_noacs(command_line, result);
  if (result.evidence.empty()) return {};
  result.says = {"ACS is judged by the registers as read, not by what the command line asks for."};
  result.fixes = {"F12"};
  return result;
}

std::optional<Finding> judge_kernel_70(const Case& c) {
  if (!c.adds_windows_without_gaps()) return {};
  for (const auto& [port, bridge] : c.bridges) {
    if (bridge.cards.size() < 2) continue;
    Finding result = finding(Severity::note, "Kernel 7.0.x may under-size the windows of siblings");
    result.evidence = {"kernel " + c.facts.kernel.release};
    result.says = {
        "Kernel 7.0.x adds up sibling windows without the gaps of their alignment: check that sum "
        "before any re-enumeration and before pci=realloc, or the second card loses all its BARs."};
    return result;
  }
  return {};
}

}  // namespace

const Rule r01{.id = "R01", .machine = judge_missing, .pair = judge_open_pair};
const Rule r02{.id = "R02", .machine = judge_guest, .pair = judge_guest_pair};
const Rule r03{.id = "R03", .machine = judge_command_line};
const Rule r04{.id = "R04", .machine = judge_kernel_70};

}  // namespace evener::doctor
