#pragma once

#include "quant/grid.h"

namespace evener::quant {

// The codebook of IQ1_S and IQ1_M: 2048 of the 3^8 points with coordinates -1, 0 and 1.
extern const Grid<8, 2048> iq1_grid;

}  // namespace evener::quant
