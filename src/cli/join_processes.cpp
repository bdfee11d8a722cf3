#include "cli/join_processes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "cli/environment.h"
#include "engine/layout_plan.h"

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
  RETURN_IF_ERROR(words.read(options));
  const size_t number = options.devices.size() == 1 ? 0 : own_number();
  const std::string own = number < options.devices.size() ? options.devices[number] : "";
  ASSIGN_OR_RETURN(auto world, parallel::MpiWorld::join({.deadline = options.rank_deadline}, own));
  if (options.devices.size() == 1) options.devices.assign(world->size(), own);
  if (options.devices.size() != world->size()) {
    return Error{.code = Code::invalid_argument,
                 .doing = "run one model in several processes",
                 .where = "--devices",
                 .why = fmt::format("{} devices are named, and mpirun started {} processes",
                                    options.devices.size(), world->size()),
                 .remedy = "name one device for each process, or one that all hosts have"};
  }
  RETURN_IF_ERROR(engine::check_parallel(options));
  return world;
}

}  // namespace evener::cli
