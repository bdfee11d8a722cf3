#pragma once

#include "base/error.h"
#include "engine/seated_rank.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::engine {

// What a process other than the first does for a model: its rank, on the calling thread, until
// process 0 has no more to ask. Errors: as SeatedRank; unavailable, when the world is broken.
Status serve_commands(parallel::MpiWorld& world, SeatedRank::Options options);

}  // namespace evener::engine
