#include "doctor/findings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <utility>

#include "doctor/wording.h"

namespace evener::doctor {
namespace {

using Severity = Finding::Severity;

// A card that stands in a hundred pairs needs no hundred lines.
constexpr size_t kEvidenceMax = 64;

void add_up_to(std::vector<std::string>& list, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (list.size() < kEvidenceMax) add_new(list, text);
  }
}

enum class Turn { safety, gate, verification, warning, place, remark };

Turn turn_of(const Finding& finding) {
  static constexpr std::array<std::string_view, 4> kSafety = {"R60", "R61", "R62", "R63"};
  if (std::ranges::find(kSafety, finding.rule) != kSafety.end()) return Turn::safety;
  if (finding.rule == "R58" || finding.rule == "R59") return Turn::place;
  if (finding.rule == "R80") return Turn::verification;
  if (finding.severity == Severity::problem) return Turn::gate;
  return finding.severity == Severity::warning ? Turn::warning : Turn::remark;
}

}  // namespace

void Findings::add(std::string_view rule, Finding finding) {
  finding.rule = rule;
  const auto [at, is_first] = by_title_.try_emplace({finding.rule, finding.title}, list_.size());
  if (is_first) {
    list_.push_back(std::move(finding));
    return;
  }
  Finding& known = list_[at->second];
  known.severity = std::max(known.severity, finding.severity);
  add_up_to(known.evidence, finding.evidence);
  add_up_to(known.says, finding.says);
  add_new(known.fixes, finding.fixes);
  add_new(known.gpus, finding.gpus);
  known.pairs.insert(known.pairs.end(), finding.pairs.begin(), finding.pairs.end());
}

std::vector<Finding> Findings::sorted() && {
  std::list<Finding> sorted(std::make_move_iterator(list_.begin()),
                            std::make_move_iterator(list_.end()));
  sorted.sort([](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return {std::make_move_iterator(sorted.begin()), std::make_move_iterator(sorted.end())};
}

std::vector<std::string> order_of_fixes(const std::vector<Finding>& findings) {
  std::list<const Finding*> order;  // whose sort keeps the order of equals
  for (const Finding& finding : findings) order.push_back(&finding);
  order.sort([](const Finding* a, const Finding* b) { return turn_of(*a) < turn_of(*b); });
  std::vector<std::string> fixes;
  for (const Finding* finding : order) add_new(fixes, finding->fixes);
  return fixes;
}

}  // namespace evener::doctor
