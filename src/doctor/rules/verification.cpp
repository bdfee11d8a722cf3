// I. What was seen to work, or not, beside what the rules say. pci-p2p.md, 7.2.
#include <fmt/format.h>

#include "base/text.h"
#include "doctor/finding.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

bool passes_gates(const Pair& pair) {
  if (pair.verdict > Verdict::degraded || pair.peers == Observation::refused) return false;
  return pair.gaps.empty() || pair.peers == Observation::allowed;
}

std::optional<Outcome> judge_unverified(const Case& c, const Pair& pair) {
  if (c.has_passed_check() || !passes_gates(pair)) return {};
  Outcome result = outcome(Finding::Severity::note, "Allowed, not verified: no data check was seen",
                           Verdict::works);
  const bool is_used = pair.peers == Observation::allowed;
  result.finding.evidence = {
      is_used ? "no byte-level data check is reported: allowed and used, not verified"
              : "no byte-level data check is reported: allowed, not verified"};
  result.finding.says = {
      "Copy a known pattern of 64 MiB or more each way and let the destination GPU compare it; a "
      "round trip is not enough.",
      "Then small and odd sizes, a collective with a known result, and the real program's output."};
  result.finding.fixes = {"F30"};
  return result;
}

std::optional<Outcome> judge_verified(const Case& c, const Pair& pair) {
  if (!c.has_passed_check() || pair.verdict > Verdict::degraded) return {};
  if (pair.peers == Observation::refused) return {};
  Outcome result = passes("A data check passed");
  result.finding.evidence = {"data check: pass"};
  return result;
}

bool contradicts(const Case& c, const Pair& pair) {
  const bool is_used = pair.peers == Observation::allowed || c.has_passed_check();
  if (pair.peers == Observation::allowed && pair.verdict == Verdict::blocked) return true;
  if (is_used) return false;
  return pair.peers == Observation::refused && pair.verdict <= Verdict::degraded &&
         pair.gaps.empty();
}

std::optional<Outcome> judge_contradiction(const Case& c, const Pair& pair) {
  if (c.is_guest || !contradicts(c, pair)) return {};
  const bool is_allowed = pair.peers == Observation::allowed;
  Outcome result = outcome(Finding::Severity::problem,
                           "What the driver reports contradicts these rules", Verdict::works);
  result.finding.evidence = {
      is_allowed ? fmt::format("{}: the driver grants peer access; the rules say: {}", pair.name(),
                               pair.because)
                 : fmt::format("{}: the driver refuses peer access; the rules find no gate that "
                               "would",
                               pair.name())};
  result.finding.says = {
      "One of the two is wrong, and which is not for these rules to say. A snapshot of this "
      "machine would help to find out."};
  if (is_allowed && c.kernel && !c.kernel->is_upstream()) {
    result.finding.says.push_back("Kernel " + printable(c.facts.kernel.release, 60) +
                                  " is not one of upstream's: it may carry a patch that these "
                                  "facts do not name.");
  }
  result.finding.fixes = {"F00"};
  return result;
}

std::optional<Outcome> judge_observed(const Case& c, const Pair& pair) {
  const bool applies = pair.peers == Observation::allowed && !pair.gaps.empty() &&
                       pair.verdict <= Verdict::degraded && !c.has_passed_check();
  if (!applies) return {};
  Outcome result = passes("The driver grants peer access: what could not be read counts as passed");
  result.finding.severity = Finding::Severity::note;
  for (const std::string& gap : pair.gaps) {
    result.finding.evidence.push_back("passed by observation: " + gap);
  }
  return result;
}

}  // namespace

const Rule r80{.id = "R80", .pair = judge_unverified};
const Rule r81{.id = "R81", .pair = judge_verified};
const Rule r82{.id = "R82", .pair = judge_contradiction};
const Rule r83{.id = "R83", .pair = judge_observed};

}  // namespace evener::doctor
