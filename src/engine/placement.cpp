#include "engine/placement.h"

#include <utility>

namespace evener::engine {
namespace {

class PlacementHere final : public Placement {
 public:
  PlacementHere(const EngineOptions& options, device::KvType kv_type, std::optional<RankPlan> plan)
      : options_(options), kv_type_(kv_type), plan_(std::move(plan)) {}

  Result<RankPlan> plan(const gguf::File& file) override {
    if (plan_) return *plan_;
    return plan_ranks(file, options_);
  }

  Result<Capacity> capacity(const gguf::File& file, const RankPlan& plan,
                            const Descriptions& descriptions, Weights weights) override {
    const size_t taken_bytes =
        weights == Weights::loaded ? sum_of_weights(file, descriptions) : size_t{0};
    ASSIGN_OR_RETURN(const auto pools,
                     memory_pools(plan.devices, {.bytes_max = options_.memory_bytes_max,
                                                 .taken_bytes = taken_bytes,
                                                 .reserved_bytes = options_.cache_memory_bytes}));
    return plan_memory(options_, file, descriptions, kv_type_, weights, pools);
  }

  Result<RankSeats> load(const std::shared_ptr<const gguf::File>& file, const RankPlan& plan,
                         const model::LoadProgress& progress) override {
    return load_ranks(file, plan, {.num_threads = options_.num_threads, .timing = options_.timing},
                      progress);
  }

  Result<std::unique_ptr<Ranks>> make(RankSeats seats, const MakeRanksOptions& options) override {
    return make_ranks(std::move(seats), options);
  }

 private:
  const EngineOptions& options_;
  device::KvType kv_type_;
  std::optional<RankPlan> plan_;
};

}  // namespace

std::unique_ptr<Placement> place_here(const EngineOptions& options, device::KvType kv_type,
                                      std::optional<RankPlan> plan) {
  return std::make_unique<PlacementHere>(options, kv_type, std::move(plan));
}

}  // namespace evener::engine
