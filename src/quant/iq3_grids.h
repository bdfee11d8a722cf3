#pragma once

#include "quant/grid.h"

namespace evener::quant {

// The codebook of IQ3_XXS: points with coordinates 4, 12, 20, 28, 36, 44, 52 and 62, and an even
// sum of the coordinates' codes. That of IQ3_S: coordinates 1, 3, ... 15.
extern const Grid<4, 256> iq3_xxs_grid;
extern const Grid<4, 512> iq3_s_grid;

}  // namespace evener::quant
