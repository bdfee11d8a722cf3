#include "doctor/rates.h"

#include <algorithm>
#include <array>

#include "doctor/links.h"
#include "doctor/wording.h"

namespace evener::doctor {
namespace {

// pci-p2p.md, R75: what measurements were seen to be of the raw rate.
constexpr double kShareMin = 0.70;
constexpr double kShareMax = 0.95;

using host::Observed;

const Pair* find_pair(const Case& c, std::string_view of) {
  const size_t dash = of.find('-');
  if (dash == std::string_view::npos) return nullptr;
  const std::string_view a = of.substr(0, dash);
  const std::string_view b = of.substr(dash + 1);
  const auto at = std::ranges::find_if(c.pairs, [&](const Pair& pair) {
    return (pair.a->name() == a && pair.b->name() == b) ||
           (pair.a->name() == b && pair.b->name() == a);
  });
  return at == c.pairs.end() ? nullptr : &*at;
}

bool is_of(const Card& card, std::string_view of) {
  return !of.empty() && card.name().starts_with(of);
}

std::optional<double> least(std::optional<double> a, std::optional<double> b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : a;
}

std::optional<double> raw_of_cards(const Case& c, std::string_view of) {
  std::optional<double> raw;
  for (const Card& card : c.cards) {
    if (card.function != nullptr && is_of(card, of)) raw = least(raw, raw_to_root(card));
  }
  return raw;
}

bool is_above_any_card(const Case& c, const host::Function& function) {
  return c.card_of.contains(&function) || c.bridges.contains(&function);
}

// How much of a link a collective keeps busy is its own affair.
bool is_copy(const Observed::Rate& rate) {
  return rate.what.starts_with("h2d") || rate.what.starts_with("d2h") ||
         rate.what.starts_with("peer_copy");
}

}  // namespace

std::vector<Comparison> compare_rates(const Case& c) {
  std::vector<Comparison> list;
  for (const Observed::Rate& rate : c.facts.observed.rates) {
    Comparison one;
    one.rate = &rate;
    one.pair = find_pair(c, rate.of);
    one.raw_gb_per_s = one.pair == nullptr
                           ? raw_of_cards(c, rate.of)
                           : raw_of_path(*one.pair->a, *one.pair->b, one.pair->path);
    list.push_back(one);
  }
  return list;
}

bool exceeds_path(const Comparison& comparison) {
  return comparison.raw_gb_per_s && *comparison.raw_gb_per_s > 0 &&
         comparison.rate->gb_per_s > kShareMax * *comparison.raw_gb_per_s;
}

bool falls_short(const Case& c, const Comparison& comparison) {
  if (!comparison.raw_gb_per_s || !is_copy(*comparison.rate)) return false;
  const bool is_explained = comparison.pair != nullptr &&
                            (comparison.pair->peers != Observation::allowed ||
                             (comparison.pair->route != Route::same_switch && has_slow_root(c)));
  return !is_explained && comparison.rate->gb_per_s < kShareMin * *comparison.raw_gb_per_s;
}

std::vector<const host::Function*> homeless_links(const Case& c) {
  std::vector<const host::Function*> found;
  if (c.facts.observed.rates.empty()) return found;
  for (const host::Function& function : c.facts.functions) {
    const bool is_homeless = function.link && function.parent.empty() && !function.address &&
                             !is_above_any_card(c, function);
    if (!is_homeless || !function.link->now_gts || !function.link->now_width) continue;
    const double raw = raw_gb_per_s(*function.link->now_gts, *function.link->now_width);
    const bool is_exceeded = std::ranges::any_of(
        c.facts.observed.rates, [&](const auto& rate) { return rate.gb_per_s > kShareMax * raw; });
    if (raw > 0 && is_exceeded) found.push_back(&function);
  }
  return found;
}

bool contradicts(const Case& c) {
  const auto list = compare_rates(c);
  return !homeless_links(c).empty() || std::ranges::any_of(list, [&](const Comparison& one) {
    return exceeds_path(one) || falls_short(c, one);
  });
}

bool has_slow_root(const Case& c) {
  static constexpr std::array<uint16_t, 7> kFirst = {0x3c00, 0x3c01, 0x0e00, 0x0e01,
                                                     0x2f00, 0x2f01, 0x6f00};
  if (mentions(c.facts.machine.cpu, "E5-")) return true;
  return std::ranges::any_of(c.facts.roots, [](const host::RootBus& root) {
    return root.first.id && root.first.id->vendor == 0x8086 &&
           std::ranges::find(kFirst, root.first.id->device) != kFirst.end();
  });
}

}  // namespace evener::doctor
