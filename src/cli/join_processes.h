#pragma once

#include <memory>

#include "base/error.h"
#include "base/function_ref.h"
#include "cli/parallel_options.h"
#include "engine/parallel_options.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::cli {

// Fills in what the words say and waits for the other processes that mpirun has started, one for
// each rank. Null, and options are left alone, where there are no others. Errors: as
// ParallelWords::read and MpiWorld::join.
Result<std::unique_ptr<parallel::MpiWorld>> join_processes(const ParallelWords& words,
                                                           engine::ParallelOptions& options);

// Runs what this process has to do, and returns its exit status. When that fails, all others hear
// of it. Process 0 is the first to end: only it knows when the work is done.
int run_among(parallel::MpiWorld& processes, FunctionRef<Result<int>()> part);

}  // namespace evener::cli
