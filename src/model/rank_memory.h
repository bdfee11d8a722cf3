#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "model/config.h"

namespace evener::model {

class Model;

// Activation memory of a rank: a stack of tensors that is emptied scope by scope. Allocated once.
class Scratch {
 public:
  // Error: out_of_memory.
  static Result<Scratch> create(device::Device& device, size_t num_floats);

  // Floats that a tensor takes, padding included.
  static size_t size_of(size_t rows, size_t cols);

  // Uninitialised. Running out is our own bug: Model::scratch_floats() promised enough.
  device::Tensor make(size_t rows, size_t cols);

  size_t used() const { return used_; }
  void release_to(size_t used) { used_ = used; }

 private:
  Scratch(std::unique_ptr<device::Buffer> buffer, size_t num_floats);

  std::unique_ptr<device::Buffer> buffer_;
  size_t num_floats_;
  size_t used_ = 0;
};

// How much a rank shall be able to hold at once.
struct MemoryPlan {
  size_t num_rows = 0;        // of a pass
  size_t num_logit_rows = 0;  // of a pass
  size_t num_pages = 0;
  size_t page_size = 64;  // positions
  size_t num_slots = 0;
  device::KvType kv_type = device::KvType::f16;
};

// What a rank keeps besides its weights. kv is null in models without attention layers, state in
// models without recurrent ones, routing in models without experts.
struct RankMemory {
  Scratch scratch;
  std::unique_ptr<device::KvCache> kv;
  std::unique_ptr<device::StateCache> state;
  std::unique_ptr<device::Routing> routing;

  // Errors: out_of_memory, unsupported (a head size that the device has no kernel for).
  static Result<RankMemory> create(device::Device& device, const Model& model,
                                   const MemoryPlan& plan);
};

// How often each expert of each layer was chosen on this rank: [layers][experts]; empty in models
// without.
std::vector<std::vector<uint64_t>> expert_uses(device::Device& device, const RankMemory& memory);

// Shapes of what a rank keeps, for sums before memory is taken.
device::KvCacheShape kv_cache_shape(const Config& config, const MemoryPlan& plan);
device::StateCacheShape state_cache_shape(const Config& config, const MemoryPlan& plan);
device::RoutingShape routing_shape(const Config& config, const MemoryPlan& plan);

}  // namespace evener::model
