#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quant/scale_search.h"

namespace evener::quant {

// Finds points of an IQ3 codebook: four coordinates with eight levels each.
class PointSearch {
 public:
  using Point = std::array<int8_t, 4>;

  // `points` in the order of a Grid, and alive as long as this is.
  explicit PointSearch(std::span<const Point> points);

  // The index of the point with the smallest sum over j of q[j] (target[j] - point[j])^2, of all of
  // them. The sum has a term for each pair of coordinates; for one upper pair there are few points,
  // and most pairs are too far away whatever the lower one is.
  size_t nearest(const float* target, const float* q) const;

  const Point& point(size_t index) const { return points_[index]; }

 private:
  std::span<const Point> points_;
  std::array<float, 8> levels_{};
  // By codes of the upper coordinates, c[2] + 8 c[3]: the set of c[0] + 8 c[1], and how many points
  // come before.
  std::array<uint64_t, 64> lower_pairs_{};
  std::array<uint16_t, 64> first_{};
};

enum class Signs { any, even };  // even: among eight weights the negative ones are even in number

// 32 weights as points with signs.
struct Points {
  std::array<uint16_t, 8> indices{};
  std::array<uint8_t, 4> signs{};  // bit j % 8 of byte j / 8 is set if weight j is negative
  Match match;
};

// Points for 32 weights x, which count q, at a scale that is not negative. With even signs, where
// one sign has to be wrong, it is that of the weight where this costs least.
Points fit_points(const PointSearch& search, Signs signs, std::span<const float> x,
                  std::span<const float> q, float scale);

// What the formats do not share.
struct Iq3Kind {
  Signs signs;
  float farthest;  // coordinate of any point
  float unit;      // a point's scale is unit * stored scale * (2 sub_scale + 1)
};

// A block of 256 weights: the scale as a half, and for each 32 a sub-scale of four bits and points.
struct Iq3Fit {
  uint16_t scale = 0;
  std::array<uint8_t, 8> sub_scales{};
  std::array<Points, 8> points;
};

Iq3Fit fit_iq3(const PointSearch& search, const Iq3Kind& kind, std::span<const float> x,
               std::span<const float> q);

}  // namespace evener::quant
