#include "device/cpu/kernels/codebooks.h"

#include <algorithm>

#include "quant/fp4.h"
#include "quant/iq1_grid.h"
#include "quant/iq2_grids.h"
#include "quant/iq3_grids.h"
#include "quant/iq4_levels.h"

namespace evener::device::cpu {
namespace {

template <size_t kDims, size_t kPoints, class Code>
void fill(uint8_t (&codes)[kPoints][kDims], const quant::Grid<kDims, kPoints>& grid, Code code) {
  for (size_t i = 0; i < kPoints; ++i) {
    for (size_t j = 0; j < kDims; ++j) codes[i][j] = uint8_t(code(int(grid[i][j])));
  }
}

// The grids are constants of another file, filled in by the compiler: they are there before any
// file's variables are.
Codebooks make_codebooks() {
  Codebooks made{};
  std::ranges::copy(quant::kIq4Levels, made.iq4);
  std::ranges::transform(quant::kFp4Doubled, made.fp4,
                         [](int8_t value) { return uint8_t(value + 12); });
  fill(made.iq3_s, quant::iq3_s_grid, [](int x) { return x; });
  fill(made.iq3_xxs, quant::iq3_xxs_grid, [](int x) { return x / 2; });
  fill(made.iq2_xxs, quant::iq2_xxs_grid, [](int x) { return x; });
  fill(made.iq2_xs, quant::iq2_xs_grid, [](int x) { return x; });
  fill(made.iq2_s, quant::iq2_s_grid, [](int x) { return x; });
  fill(made.iq1, quant::iq1_grid, [](int x) { return 8 * x + 1 + 16; });
  return made;
}

}  // namespace

const Codebooks codebooks = make_codebooks();

}  // namespace evener::device::cpu
