#pragma once

#include <memory>

#include "base/work_times.h"
#include "parallel/grid.h"

namespace evener::parallel {

// Lets the calls of a rank's comms add their time to `times`, as Work::ranks. A rank on its own
// makes none that take any.
void time_comms(RankComms& comms, const std::shared_ptr<WorkTimes>& times);

}  // namespace evener::parallel
