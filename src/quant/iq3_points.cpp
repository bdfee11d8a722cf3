#include "quant/iq3_points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "quant/sub_scales.h"

namespace evener::quant {
namespace {

constexpr size_t kLevels = 8;

using CodeErrors = std::array<float, kLevels>;  // of one coordinate, by code

// Codes by rising error. The errors fall up to the nearest level and rise behind it.
std::array<uint8_t, kLevels> by_error(const CodeErrors& errors) {
  std::array<uint8_t, kLevels> order{};
  auto right = size_t(std::ranges::min_element(errors) - errors.begin());
  size_t left = right;
  for (size_t n = 0; n < kLevels; ++n) {
    const bool take_left = left > 0 && (right == kLevels || errors[left - 1] < errors[right]);
    order[n] = uint8_t(take_left ? --left : right++);
  }
  return order;
}

// Eight weights, which share a byte of signs.
struct Octet {
  float targets[8];  // weights over scale, with the signs taken away
  unsigned signs = 0;
  size_t indices[2] = {};
};

Octet octet_of(const float* x, float scale) {
  const float inverse = inverse_of(scale);
  Octet octet;
  for (size_t j = 0; j < 8; ++j) {
    octet.targets[j] = std::abs(x[j]) * inverse;
    if (x[j] < 0) octet.signs |= 1u << j;
  }
  return octet;
}

// The weight that suffers least from a wrong sign: weight x, level l there and -l instead of it
// differ by 4 q x l in the error.
size_t cheapest_flip(const PointSearch& search, const Octet& octet, const float* q) {
  size_t cheapest = 0;
  float least = std::numeric_limits<float>::infinity();
  for (size_t j = 0; j < 8; ++j) {
    const float level = search.point(octet.indices[j / 4])[j % 4];
    const float cost = q[j] * octet.targets[j] * level;
    if (cost < least) {
      least = cost;
      cheapest = j;
    }
  }
  return cheapest;
}

void make_even(const PointSearch& search, Octet& octet, const float* q) {
  if (std::popcount(octet.signs) % 2 == 0) return;
  const size_t flipped = cheapest_flip(search, octet, q);
  octet.targets[flipped] = -octet.targets[flipped];
  octet.signs ^= 1u << flipped;
  const size_t half = flipped / 4;
  octet.indices[half] = search.nearest(octet.targets + half * 4, q + half * 4);
}

void add_octet(const PointSearch& search, const Octet& octet, const float* x, const float* q,
               float scale, Match& match) {
  for (size_t j = 0; j < 8; ++j) {
    const float magnitude = search.point(octet.indices[j / 4])[j % 4];
    const float level = (octet.signs >> j & 1) != 0 ? -magnitude : magnitude;
    const float miss = x[j] - scale * level;
    match.error += q[j] * miss * miss;
    match.xl += q[j] * x[j] * level;
    match.ll += q[j] * level * level;
  }
}

}  // namespace

PointSearch::PointSearch(std::span<const Point> points) : points_(points) {
  std::array<bool, 128> used{};
  for (const Point& point : points) {
    for (const int8_t coordinate : point) used[size_t(coordinate)] = true;
  }
  std::array<size_t, 128> codes{};
  for (size_t level = 0, code = 0; level < used.size(); ++level) {
    if (!used[level]) continue;
    levels_[code] = float(level);
    codes[level] = code++;
  }
  const auto code = [&](const Point& point, size_t j) { return codes[size_t(point[j])]; };
  for (const Point& point : points) {
    const size_t upper = code(point, 2) + kLevels * code(point, 3);
    lower_pairs_[upper] |= uint64_t{1} << (code(point, 0) + kLevels * code(point, 1));
  }
  for (size_t upper = 1; upper < first_.size(); ++upper) {
    first_[upper] = uint16_t(first_[upper - 1] + std::popcount(lower_pairs_[upper - 1]));
  }
}

size_t PointSearch::nearest(const float* target, const float* q) const {
  CodeErrors errors[4];
  for (size_t j = 0; j < 4; ++j) {
    for (size_t code = 0; code < kLevels; ++code) {
      const float miss = target[j] - levels_[code];
      errors[j][code] = q[j] * miss * miss;
    }
  }
  const auto order2 = by_error(errors[2]);
  const auto order3 = by_error(errors[3]);
  const float least_lower = std::ranges::min(errors[0]) + std::ranges::min(errors[1]);
  const float least_of_three = least_lower + errors[2][order2[0]];

  float least = std::numeric_limits<float>::infinity();
  size_t best_upper = 0;
  size_t best_lower = 0;
  for (const size_t code3 : order3) {
    if (!(errors[3][code3] + least_of_three < least)) break;
    for (const size_t code2 : order2) {
      const float upper = errors[2][code2] + errors[3][code3];
      if (!(upper + least_lower < least)) break;
      const size_t pair = code2 + kLevels * code3;
      for (uint64_t rest = lower_pairs_[pair]; rest != 0; rest &= rest - 1) {
        const auto lower = size_t(std::countr_zero(rest));
        const float error = errors[0][lower % kLevels] + errors[1][lower / kLevels] + upper;
        if (!(error < least)) continue;
        least = error;
        best_upper = pair;
        best_lower = lower;
      }
    }
  }
  const uint64_t before = lower_pairs_[best_upper] & ((uint64_t{1} << best_lower) - 1);
  return first_[best_upper] + size_t(std::popcount(before));
}

Points fit_points(const PointSearch& search, Signs signs, std::span<const float> x,
                  std::span<const float> q, float scale) {
  Points points;
  for (size_t i = 0; i < 4; ++i) {
    const float* const values = &x[i * 8];
    const float* const counts = &q[i * 8];
    Octet octet = octet_of(values, scale);
    for (size_t half = 0; half < 2; ++half) {
      octet.indices[half] = search.nearest(octet.targets + half * 4, counts + half * 4);
    }
    if (signs == Signs::even) make_even(search, octet, counts);
    add_octet(search, octet, values, counts, scale, points.match);
    points.signs[i] = uint8_t(octet.signs);
    points.indices[2 * i] = uint16_t(octet.indices[0]);
    points.indices[2 * i + 1] = uint16_t(octet.indices[1]);
  }
  return points;
}

Iq3Fit fit_iq3(const PointSearch& search, const Iq3Kind& kind, std::span<const float> x,
               std::span<const float> q) {
  const Reaches reaches = {
      .level = kind.farthest, .ratio = 1.12f, .below = 4, .above = 2, .both_signs = false};
  constexpr Factors kFactors = {.first = 1, .last = 31, .step = 2};
  const auto fit = [&](size_t sub, float scale) {
    return fit_points(search, kind.signs, x.subspan(sub * 32, 32), q.subspan(sub * 32, 32), scale);
  };
  const auto match = [&](size_t sub, float scale) { return fit(sub, scale).match; };
  const SubScales scales = fit_sub_scales<8>(x, q, reaches, kFactors, kind.unit, match);
  Iq3Fit result;
  result.scale = scales.half;
  for (size_t sub = 0; sub < 8; ++sub) {
    result.sub_scales[sub] = uint8_t(scales.factors[sub] / 2);
    result.points[sub] = fit(sub, scales.of(sub));
  }
  return result;
}

}  // namespace evener::quant
