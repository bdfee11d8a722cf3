#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace evener::parallel {

// How many of `num_units` equal pieces of work each member gets: as near to the ratio as whole
// units come (the largest remainders get the units left over, of equal ones the first), and at
// least one. Every ratio is finite and above 0; there are no more members than units.
std::vector<size_t> share_out(size_t num_units, std::span<const double> ratio);

// How much longer the member with too much works than if shares could be cut exactly: at least 1.
double imbalance(std::span<const size_t> shares, std::span<const double> ratio);

// Some of the units of one group.
struct GroupShare {
  size_t group = 0;
  size_t first_unit = 0;  // within the group
  size_t num_units = 0;
  bool operator==(const GroupShare&) const = default;
};

// Shares out `num_groups` groups of `num_units` units each over at least as many members, so that
// nobody has units of two groups and the one with the most for its ratio has as little as can be.
// Members follow the order of groups. There are no more members than units.
std::vector<GroupShare> share_groups(size_t num_groups, size_t num_units,
                                     std::span<const double> ratio);

}  // namespace evener::parallel
