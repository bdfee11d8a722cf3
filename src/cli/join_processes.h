#pragma once

#include <memory>

#include "base/error.h"
#include "cli/parallel_options.h"
#include "engine/parallel_options.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::cli {

// Waits for the other processes that mpirun has started, one for each rank, and fills in `options`.
// One device that is named is that of every process; else there is one for each. Null, and options
// are left alone, where mpirun did not start this process. Errors: as ParallelWords::apply and
// MpiWorld::join; invalid_argument: another number of devices or ranks than processes.
Result<std::unique_ptr<parallel::MpiWorld>> join_processes(const ParallelWords& words,
                                                           engine::ParallelOptions& options);

}  // namespace evener::cli
