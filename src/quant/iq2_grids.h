#pragma once

#include "quant/grid.h"

namespace evener::quant {

// The codebooks of IQ2_XXS, IQ2_XS and IQ2_S: points with coordinates 8, 25 and 43, and an even sum
// of the coordinates' codes. None holds another.
extern const Grid<8, 256> iq2_xxs_grid;
extern const Grid<8, 512> iq2_xs_grid;
extern const Grid<8, 1024> iq2_s_grid;

}  // namespace evener::quant
