#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "doctor/case.h"
#include "doctor/report.h"

namespace evener::doctor {

// What a rule says of a card or a pair.
struct Outcome {
  Finding finding;
  Verdict verdict = Verdict::works;  // at best, for the pairs it is about
  bool decides = true;               // is it named among the pair's rules?
  bool refuses_route = false;
};

// One rule of reference/host/pci-p2p.md, section 7.2: a condition on facts, and what follows from
// it. It judges the machine, each card, or each pair; the others are null. No answer: the rule does
// not apply, or the facts do not say. What is missing then is said by gaps.h, once.
//
// A pair's rule sees what earlier ones said of the pair.
struct Rule {
  std::string_view id;
  std::optional<Finding> (*machine)(const Case& c) = nullptr;
  std::optional<Outcome> (*card)(const Case& c, const Card& card) = nullptr;
  std::optional<Outcome> (*pair)(const Case& c, const Pair& pair) = nullptr;
  // Says why a BAR is small. Not asked for pairs that are refused on the way: a larger BAR would
  // not help them.
  bool is_cause = false;
};

// In order of judging. Those about verification come last, when the gaps of each pair are known.
std::span<const Rule* const> gate_rules();
std::span<const Rule* const> verification_rules();

}  // namespace evener::doctor
