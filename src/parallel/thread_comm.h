#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "parallel/comm_options.h"
#include "parallel/direct_link.h"
#include "parallel/grid.h"

namespace evener::parallel {

// Ranks that are threads of this process: one RankComms for each, in rank order, to be used by its
// thread alone. Data go through memory that the ranks share, and
// through links: no rank touches another's tensors, so a rank that has been given up does no harm
// when it goes on.
//
// Destroying a rank's comms tells the others that it has ended, which breaks the grid.
//
// A rank that waits spins for some ten microseconds, if there is a cpu for each, and sleeps then.
// Judge: tests/parallel/thread_comm_test.cpp.
std::vector<RankComms> connect_threads(const Grid& grid, const CommOptions& options,
                                       const std::vector<DirectLink>& links = {});

}  // namespace evener::parallel
