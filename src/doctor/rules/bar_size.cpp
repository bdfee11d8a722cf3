// D. Does the VRAM BAR of each card cover its VRAM? pci-p2p.md, 2.1 and 7.2.
#include <fmt/format.h>

#include "doctor/bar_cause.h"
#include "doctor/finding.h"
#include "doctor/rules/all.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

std::string low_address(const Card& card) {
  if (!card.bar_base || *card.bar_base == 0 || *card.bar_base >= 4 * kGiB) return "";
  return fmt::format("; it lies at {}, below 4 GiB", address_text(*card.bar_base));
}

std::optional<Outcome> judge_small(const Case& c, const Card& card) {
  if (!needs_whole_bar(c, card) || !card.is_small()) return {};
  Outcome result = blocks("A VRAM BAR is smaller than the VRAM behind it");
  result.finding.evidence.push_back(fmt::format("{}: VRAM BAR {} is smaller than {} VRAM{}",
                                                card.label(), size_text(*card.bar_bytes),
                                                size_text(*card.need_bytes), low_address(card)));
  result.finding.says = {
      "Peers can be let into a card only if its BAR shows all of its VRAM; nothing is logged when "
      "that is refused. Later gates remain: the address limit, and the route with the kernel's "
      "allow list."};
  if (card.small_bar_cause.empty()) {
    result.finding.says.emplace_back("Why it is small cannot be told from these facts.");
    result.finding.fixes = {"F02"};
    if (!c.adds_windows_without_gaps()) result.finding.fixes.emplace_back("F13");
  }
  return result;
}

bool is_no_obstacle(const Card& card) { return !card.is_small() && !card.has_lost_bar(); }

// Passed data says that the BARs were large enough, also where nobody wrote down their size.
std::optional<Outcome> judge_large(const Case& c, const Pair& pair) {
  if (!needs_whole_bar(c, *pair.a) || !needs_whole_bar(c, *pair.b)) return {};
  const bool both_known = pair.a->is_large() && pair.b->is_large();
  const bool follows = c.has_passed_check() && is_no_obstacle(*pair.a) && is_no_obstacle(*pair.b);
  if (!both_known && !follows) return {};
  Outcome result = passes("The VRAM BARs cover the VRAM");
  for (const Card* card : {pair.a, pair.b}) {
    if (!card->is_large()) continue;
    result.finding.evidence.push_back(fmt::format("{}: BAR {}, VRAM {}", card->label(),
                                                  size_text(*card->bar_bytes),
                                                  size_text(*card->need_bytes)));
  }
  if (!both_known) {
    result.finding.evidence.emplace_back("by the data check that passed: sizes are not reported");
  }
  return result;
}

}  // namespace

const Rule r30{.id = "R30", .card = judge_small};
const Rule r38{.id = "R38", .pair = judge_large};

}  // namespace evener::doctor
