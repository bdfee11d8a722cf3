#include "parallel/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/assert.h"

namespace evener::parallel {
namespace {

double sum_of(std::span<const double> ratio) {
  return std::accumulate(ratio.begin(), ratio.end(), 0.0);
}

// Of the member that works longest, in units for a ratio of 1.
double longest(std::span<const size_t> shares, std::span<const double> ratio) {
  double most = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    most = std::max(most, static_cast<double>(shares[i]) / ratio[i]);
  }
  return most;
}

// Members whose exact share is below one unit get one; the others share what that leaves, which may
// push further ones below.
std::vector<bool> those_with_one(size_t num_units, std::span<const double> ratio) {
  std::vector<bool> has_one(ratio.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    auto units = static_cast<double>(num_units);
    double total = 0;
    for (size_t i = 0; i < ratio.size(); ++i) {
      units -= has_one[i] ? 1 : 0;
      total += has_one[i] ? 0 : ratio[i];
    }
    for (size_t i = 0; i < ratio.size(); ++i) {
      if (has_one[i] || units * (ratio[i] / total) >= 1) continue;
      has_one[i] = true;
      changed = true;
    }
  }
  return has_one;
}

}  // namespace

std::vector<size_t> share_out(size_t num_units, std::span<const double> ratio) {
  const size_t n = ratio.size();
  EVENER_ASSERT(n > 0);
  EVENER_ASSERT(n <= num_units);
  const std::vector<bool> has_one = those_with_one(num_units, ratio);
  std::vector<size_t> shares(n, 1);
  std::vector<size_t> others;
  double total = 0;
  for (size_t i = 0; i < n; ++i) {
    if (has_one[i]) continue;
    others.push_back(i);
    total += ratio[i];
  }
  size_t left = num_units - (n - others.size());
  const auto units = static_cast<double>(left);
  std::vector<double> remainders(n, 0);
  for (const size_t i : others) {
    const double exact = units * (ratio[i] / total);
    shares[i] = std::min(left, std::max<size_t>(1, static_cast<size_t>(exact)));
    remainders[i] = exact - static_cast<double>(shares[i]);
    left -= shares[i];
  }
  std::sort(others.begin(), others.end(), [&](size_t a, size_t b) {
    return remainders[a] != remainders[b] ? remainders[a] > remainders[b] : a < b;
  });
  for (size_t k = 0; left > 0; k = (k + 1) % others.size(), --left) ++shares[others[k]];
  return shares;
}

double imbalance(std::span<const size_t> shares, std::span<const double> ratio) {
  const size_t num_units = std::accumulate(shares.begin(), shares.end(), size_t{0});
  return longest(shares, ratio) * sum_of(ratio) / static_cast<double>(num_units);
}

std::vector<GroupShare> share_groups(size_t num_groups, size_t num_units,
                                     std::span<const double> ratio) {
  const size_t n = ratio.size();
  EVENER_ASSERT(num_groups > 0);
  EVENER_ASSERT(num_groups <= n);
  EVENER_ASSERT(n <= num_groups * num_units);
  // best[g][m]: the least that the longest works when the first g groups have the first m members;
  // size[g][m]: the last group's number of members then.
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector best(num_groups + 1, std::vector<double>(n + 1, kNever));
  std::vector size(num_groups + 1, std::vector<size_t>(n + 1, 0));
  best[0][0] = 0;
  for (size_t g = 1; g <= num_groups; ++g) {
    for (size_t m = g; m <= n; ++m) {
      for (size_t k = 1; k <= std::min(num_units, m); ++k) {
        const auto members = ratio.subspan(m - k, k);
        const double here = longest(share_out(num_units, members), members);
        const double all = std::max(best[g - 1][m - k], here);
        if (all >= best[g][m]) continue;
        best[g][m] = all;
        size[g][m] = k;
      }
    }
  }
  std::vector<GroupShare> shares(n);
  for (size_t g = num_groups, m = n; g > 0; --g) {
    const size_t k = size[g][m];
    m -= k;
    const std::vector<size_t> units = share_out(num_units, ratio.subspan(m, k));
    size_t first = 0;
    for (size_t i = 0; i < k; first += units[i], ++i) {
      shares[m + i] = {.group = g - 1, .first_unit = first, .num_units = units[i]};
    }
  }
  return shares;
}

}  // namespace evener::parallel
