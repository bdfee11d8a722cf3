#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/metrics.h"
#include "bench/run.h"

namespace evener::bench {

// Works out the figures of every cell from its requests and values and holds them against those
// that were stored when the cell ended. What differs by more than rounding, one sentence each.
std::vector<std::string> verify_figures(const Run& run,
                                        const std::map<std::string, CellFigures>& stored);

}  // namespace evener::bench
