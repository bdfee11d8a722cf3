#pragma once

#include <memory>
#include <vector>

#include "parallel/comm.h"
#include "parallel/comm_options.h"
#include "parallel/mpi/mpi_link.h"

namespace evener::parallel::mpi {

// A group of processes as one of them sees it; `members` are their ranks in the grid. Sums are the
// same bits as those of ranks that are threads. Destroyed, it tells the others that the rank has
// ended.
std::unique_ptr<Comm> make_mpi_comm(std::shared_ptr<MpiLink> link, std::vector<size_t> members,
                                    const CommOptions& options);

}  // namespace evener::parallel::mpi
