#pragma once

#include <vector>

#include "parallel/stage_cost.h"

namespace evener::parallel {

// The shares [shards] that let all devices of a stage end at the same time, in hundredths; where a
// device's memory ends before, the others take more. Devices whose speeds differ by no more than a
// measurement does are alike. Devices stand in rank order.
std::vector<double> measured_ratio(const LayerSums& layers, const std::vector<DeviceCost>& devices,
                                   const Grid& grid);

}  // namespace evener::parallel
