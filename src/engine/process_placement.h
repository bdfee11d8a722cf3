#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "device/device.h"
#include "device/device_memory.h"
#include "engine/placement.h"
#include "parallel/mpi/mpi_world.h"

namespace evener::engine {

// Ranks that are processes under mpirun, one each. Every process plans for itself, by what all of
// them see alike: that their programs, options and models are the same is agreed on before.
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
  const std::string& own_device() const { return options_.parallel.devices[world_.rank()]; }
  Status tell_of_shared_cores();
  Result<device::DeviceMemory> own_memory() const;
  Result<size_t> num_on_own_card(const std::string& place) const;
  ManyRanks::Fallback fallback(const std::shared_ptr<const gguf::File>& file,
                               const model::MemoryPlan& memory) const;

  parallel::MpiWorld& world_;
  const EngineOptions& options_;
  device::KvType kv_type_;
  std::shared_ptr<device::Device> device_;
};

// That all processes were started from the same program with the same options, as far as these
// concern all; and that there is one process for each rank. A single device becomes that of every
// process. Errors: as MpiWorld::agree; as check_parallel.
Status agree_on_options(parallel::MpiWorld& world, EngineOptions& options);

// What a process other than the first does: loads its part and does what process 0 asks, until that
// has no more to ask. Errors: as load() over processes; unavailable, when a process has failed.
Status run_process(parallel::MpiWorld& world, const EngineOptions& options);

}  // namespace evener::engine
