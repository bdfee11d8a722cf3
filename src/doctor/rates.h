#pragma once

#include <optional>
#include <vector>

#include "doctor/case.h"

namespace evener::doctor {

// A rate that somebody measured beside what the links of its path carry.
struct Comparison {
  const host::Observed::Rate* rate = nullptr;
  std::optional<double> raw_gb_per_s;  // the least of the path; empty: not known
  const Pair* pair = nullptr;          // of a rate between two cards
};

// One for each rate that is of a card, of a group of cards ("X" for X1 and X2), or of a pair.
std::vector<Comparison> compare_rates(const Case& c);

// No path carries more than its links: the reading is of another link, or of an idle one.
bool exceeds_path(const Comparison& comparison);
// Less than packets cost, with nothing known that would explain it.
bool falls_short(const Case& c, const Comparison& comparison);

// Readings of links of which nobody said where they are, and which the rates of every path exceed.
std::vector<const host::Function*> homeless_links(const Case& c);

bool contradicts(const Case& c);  // is there any of these?

// Xeon E5 v1 to v4 and what they share their silicon with: their root complex forwards slowly.
bool has_slow_root(const Case& c);

}  // namespace evener::doctor
