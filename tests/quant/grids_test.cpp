// Goal: the codebooks of the IQ formats are those of the file format, point by point.
// Method: a sum over all coordinates, in order, that was computed from the peer's own tables. The
// golden blocks of formats_test.cpp name most points, but not all.
#include <gtest/gtest.h>

#include <set>

#include "quant/iq1_grid.h"
#include "quant/iq2_grids.h"
#include "quant/iq3_grids.h"

namespace evener::quant {
namespace {

// FNV-1a with 64 bits over the coordinates as bytes.
template <size_t kDims, size_t kPoints>
uint64_t hash_of(const Grid<kDims, kPoints>& grid) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto& point : grid.points) {
    for (const int8_t coordinate : point) hash = (hash ^ uint8_t(coordinate)) * 0x100000001b3;
  }
  return hash;
}

TEST(Grids, HaveThePointsOfThePeer) {
  EXPECT_EQ(hash_of(iq1_grid), 0x6703ed863501ae2e);
  EXPECT_EQ(hash_of(iq2_xxs_grid), 0xbb4ee025b5ac6e8e);
  EXPECT_EQ(hash_of(iq2_xs_grid), 0xc9b1ee61e79909bd);
  EXPECT_EQ(hash_of(iq2_s_grid), 0x123edd38a3b62b90);
  EXPECT_EQ(hash_of(iq3_xxs_grid), 0xdfa5dc83d6a155d5);
  EXPECT_EQ(hash_of(iq3_s_grid), 0xfa37020c25b44829);
}

TEST(EvenSigns, AreAnEvenNumberAndKeepTheSeven) {
  std::set<unsigned> all;
  for (unsigned seven = 0; seven < 128; ++seven) {
    const unsigned signs = even_signs(seven);
    EXPECT_EQ(signs & 127, seven);
    EXPECT_LT(signs, 256u);
    EXPECT_EQ(std::popcount(signs) % 2, 0);
    all.insert(signs);
  }
  EXPECT_EQ(all.size(), 128u);
}

TEST(PutPoint, NegatesWhereASignIsSet) {
  float weights[4] = {};
  put_point(std::array<int8_t, 4>{1, 3, 5, 15}, 0b1010u, 0.5f, weights);
  EXPECT_EQ(weights[0], 0.5f);
  EXPECT_EQ(weights[1], -1.5f);
  EXPECT_EQ(weights[2], 2.5f);
  EXPECT_EQ(weights[3], -7.5f);
}

}  // namespace
}  // namespace evener::quant
