#pragma once

#include <memory>

#include "base/error.h"
#include "engine/placement.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::engine {

// Ranks that are processes under mpirun, one each. Every process plans for itself, by what all of
// them see alike; that they came to the same, and are of the same program, model and options, they
// agree on before anything is loaded.
class ProcessPlacement final : public Placement {
 public:
  // options.parallel.devices has a name for each rank. World and options outlive it.
  ProcessPlacement(parallel::MpiWorld& world, const EngineOptions& options, device::KvType kv_type)
      : world_(world), options_(options), kv_type_(kv_type) {}

  Result<RankPlan> plan(const gguf::File& file) override;
  Result<Capacity> capacity(const gguf::File& file, const RankPlan& plan,
                            const Descriptions& descriptions, Weights weights) override;
  Result<RankSeats> load(const std::shared_ptr<const gguf::File>& file, const RankPlan& plan,
                         const model::LoadProgress& progress) override;
  Result<std::unique_ptr<Ranks>> make(RankSeats seats, const MakeRanksOptions& options) override;

 private:
  Status agree(const gguf::File& file, const RankPlan& plan, const device::Device& device);
  Status wait_for_all();
  Result<Capacity> least_of_all(const Capacity& own);

  parallel::MpiWorld& world_;
  const EngineOptions& options_;
  device::KvType kv_type_;
};

// What a process other than the first does: loads its part and does what process 0 asks, until that
// has no more to ask. Errors: as load() over processes; unavailable, when a process has failed.
Status run_process(parallel::MpiWorld& world, const EngineOptions& options);

}  // namespace evener::engine
