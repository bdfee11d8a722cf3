#pragma once

#include "device/device.h"
#include "parallel/comm_options.h"
#include "parallel/grid.h"

namespace evener::parallel {

// Calls every function of both groups with tensors of several sizes, below and above the size where
// the way of all-reduce changes, and compares what they leave with what they should. All ranks of
// the grid call it at the same time, each for itself; some milliseconds. Errors: unavailable,
// naming the rank and the call (the grid is broken then); out_of_memory.
Status self_test(RankComms& comms, device::Device& device, const CommOptions& options);

}  // namespace evener::parallel
