#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace evener::quant {

// A codebook of the IQ formats: some points of a space of kDims dimensions. A block names a point
// by its index here, and the point's coordinates are kDims neighbouring weights without scale and
// sign.
template <size_t kDims, size_t kPoints>
struct Grid {
  using Point = std::array<int8_t, kDims>;
  std::array<Point, kPoints> points;

  constexpr const Point& operator[](size_t index) const { return points[index]; }
};

// The formats order a codebook by the codes of its points' coordinates, read as the digits of one
// number with the first coordinate as the lowest digit. So a codebook is the set of those numbers,
// and here a set is its bits: bit b of word w stands for 64 w + b. A coordinate with code c is
// levels[c].
template <size_t kDims, size_t kPoints, size_t kLevels, size_t kWords>
consteval Grid<kDims, kPoints> expand_grid(const int8_t (&levels)[kLevels],
                                           const uint64_t (&members)[kWords]) {
  Grid<kDims, kPoints> grid{};
  size_t index = 0;
  for (size_t w = 0; w < kWords; ++w) {
    for (uint64_t rest = members[w]; rest != 0; rest &= rest - 1) {
      size_t number = 64 * w + size_t(std::countr_zero(rest));
      for (int8_t& coordinate : grid.points[index]) {
        coordinate = levels[number % kLevels];
        number /= kLevels;
      }
      ++index;
    }
  }
  return grid;
}

template <size_t kWords>
consteval size_t num_members(const uint64_t (&members)[kWords]) {
  size_t count = 0;
  for (const uint64_t word : members) count += size_t(std::popcount(word));
  return count;
}

// The weights of one point: weights[j] is scale * point[j], negated where bit j of `signs` is set.
template <size_t kDims>
void put_point(const std::array<int8_t, kDims>& point, unsigned signs, float scale,
               float* weights) {
  for (size_t j = 0; j < kDims; ++j) {
    const float magnitude = scale * float(point[j]);
    weights[j] = (signs >> j & 1) != 0 ? -magnitude : magnitude;
  }
}

// Signs of eight weights from seven bits: the number of negative ones is even, so the seven say
// what the eighth is.
constexpr unsigned even_signs(unsigned seven) {
  return seven | unsigned(std::popcount(seven) & 1) << 7;
}

}  // namespace evener::quant
