#include "cli/join_processes.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "base/environment.h"
#include "cli/report_error.h"

namespace evener::cli {
namespace {

// What mpirun tells a process; that of Open MPI 5 in the other variable.
size_t own_number() {
  std::string number = environment("OMPI_COMM_WORLD_RANK");
  if (number.empty()) number = environment("PMIX_RANK");
  return std::strtoul(number.c_str(), nullptr, 10);
}

}  // namespace

Result<std::unique_ptr<parallel::MpiWorld>> join_processes(const ParallelWords& words,
                                                           engine::ParallelOptions& options) {
  if (!parallel::MpiWorld::launched()) return nullptr;
  engine::ParallelOptions said = options;
  RETURN_IF_ERROR(words.read(said));
  const size_t number = said.devices.size() == 1 ? 0 : own_number();
  const std::string own = number < said.devices.size() ? said.devices[number] : "";
  ASSIGN_OR_RETURN(auto world, parallel::MpiWorld::join({.deadline = said.rank_deadline}, own));
  if (world->size() == 1) return nullptr;
  options = std::move(said);
  return world;
}

// mpirun ends all processes as soon as one has failed: each says why while all are still there.
int run_among(parallel::MpiWorld& processes, FunctionRef<Result<int>()> part) {
  const Result<int> done = part();
  const int status = done ? *done : report_error(processes.fail(done.error()));
  if (processes.rank() > 0) processes.wait_until_left(0);
  return status;
}

}  // namespace evener::cli
