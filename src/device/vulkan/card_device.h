#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "device/vulkan/batch_data.h"
#include "device/vulkan/gpu.h"
#include "device/vulkan/memory_pool.h"
#include "device/vulkan/staging.h"
#include "device/vulkan/steps.h"
#include "device/vulkan/vulkan_memory.h"

namespace evener::device::vulkan {

class VulkanRouting;

// Bytes that another device sees too.
struct SharedPlace {
  Place place;
  uint32_t other_queues = 0;  // as PeerMemory says
};

// Operations of a card: each checks its shapes and adds the kernels that compute it to the step.
class CardDevice final : public Device {
 public:
  static Result<std::unique_ptr<CardDevice>> create(std::shared_ptr<Gpu> gpu, DeviceInfo info,
                                                    const Steps::Options& options);

  const DeviceInfo& info() const override { return info_; }
  Status bind_thread() override { return {}; }
  Status status() const override { return steps_->status(); }
  void while_waiting(std::function<void()> sign) override {
    steps_->while_waiting(std::move(sign));
  }
  bool measure(std::shared_ptr<WorkTimes> times) override;
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes) override;
  Result<std::unique_ptr<Weight>> upload(const WeightSource& source, WeightUse use) override;
  Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) override;
  Result<std::unique_ptr<StateCache>> create_state_cache(const StateCacheShape& shape) override;
  Result<std::unique_ptr<Routing>> create_routing(const RoutingShape& shape) override;

  void write(std::span<const float> values, const Tensor& y) override;
  void read(const Tensor& x, std::span<float> values) override;
  float* host_data(const Tensor&) override {
    (void)steps_->finish();
    return nullptr;
  }
  void arg_max(const Tensor& x, std::span<int32_t> best) override;
  void embedding(const Weight& weight, std::span<const int32_t> ids, const Tensor& y) override;
  void linear(const Tensor& x, std::span<const LinearPart> parts) override;
  void rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& y) override;
  void gated_rms_norm(const Tensor& x, const Tensor& gain, float epsilon, const Tensor& gate,
                      const Tensor& y) override;
  void rope_angles(std::span<const int32_t> positions, std::span<const double> inverse_frequency,
                   float magnitude, const Tensor& angles) override;
  void rope(const Tensor& x, const Tensor& angles, RopePairing pairing) override;
  void store_kv(KvCache& cache, size_t layer, const Batch& batch, const Tensor& k,
                const Tensor& v) override;
  void attention(const KvCache& cache, size_t layer, const Batch& batch, const Tensor& q,
                 float scale, const Tensor& y) override;
  void causal_conv_silu(StateCache& cache, size_t layer, const Batch& batch, const Tensor& x,
                        const Tensor& taps, const Tensor& y) override;
  void gated_delta_net(StateCache& cache, size_t layer, const Batch& batch,
                       const DeltaNetArgs& args, const Tensor& y) override;
  void reset_state(StateCache& cache, int32_t slot) override;
  void copy_state(StateCache& cache, int32_t from, int32_t to) override;
  void read_page(const KvCache& cache, int32_t page, std::span<std::byte> bytes) override;
  void write_page(KvCache& cache, int32_t page, std::span<const std::byte> bytes) override;
  void read_state(const StateCache& cache, int32_t slot, std::span<std::byte> bytes) override;
  void write_state(StateCache& cache, int32_t slot, std::span<const std::byte> bytes) override;
  void route(Routing& routing, size_t layer, const Tensor& logits, const RouteArgs& args) override;
  void expert_ffn(Routing& routing, const Tensor& x, const ExpertWeights& weights,
                  const Tensor& y) override;
  void read_choices(const Routing& routing, std::span<int32_t> experts,
                    std::span<float> weights) override;
  void read_expert_uses(const Routing& routing, size_t layer, std::span<uint64_t> uses) override;
  void reset_expert_uses(Routing& routing) override;
  void silu_mul(const Tensor& gate, const Tensor& up, const Tensor& y) override;
  void sigmoid_mul(const Tensor& x, const Tensor& gate, const Tensor& y) override;
  void add(const Tensor& x, const Tensor& y) override;
  void gather_rows(const Tensor& x, std::span<const int32_t> rows, const Tensor& y) override;

  // The rows of x side by side to where another device reads them, and from where one has put them
  // to y. Both wait until it is done; false after a failure.
  bool put(const Tensor& x, const SharedPlace& to);
  bool take(const SharedPlace& from, const Tensor& y);

  // Memory of that kind is about to go: nothing that was recorded with it is submitted again.
  void forget_shared_memory() { pool_->count_lost_buffer(); }

  const std::shared_ptr<Gpu>& gpu() const { return gpu_; }

  // For tests and reports.
  Steps& steps() { return *steps_; }

 private:
  // Memory between the kernels of an operation; grows to what was needed most.
  struct Scratch {
    Region region;
    const char* what;
  };
  // Rows of a linear map and where they come from and go to.
  struct LinearRows {
    size_t num_rows = 0;
    uint64_t y = 0;
    Touched written;
    size_t y_stride = 0;
    // Of experts: tiles of the choices; 0: the rows stand in order.
    uint64_t tiles = 0;
    uint64_t places = 0;
    size_t num_tiles = 0;
    size_t tile_rows = 0;
    size_t choices_a_row = 0;
    Touched lists = {};  // tiles and places
  };
  // Rows of floats, wherever they lie.
  struct FloatRows {
    uint64_t address = 0;
    size_t stride = 0;
    size_t num_rows = 0;
    size_t cols = 0;
    Touched read;
  };
  static FloatRows rows_of(const Tensor& x) {
    return {address_of(x), x.stride, x.rows, x.cols, touched(x)};
  }
  // Rows side by side from an address on.
  static FloatRows packed_rows(uint64_t address, size_t num_rows, size_t cols) {
    return {address, cols, num_rows, cols, {address, address + num_rows * cols * sizeof(float)}};
  }
  // Inputs of a linear map: floats or codes.
  struct Inputs {
    uint64_t address = 0;
    size_t stride = 0;  // floats, or units
    Touched read;
  };
  // Those of kernels/elementwise.comp.
  enum class Elementwise : uint32_t { silu_mul, sigmoid_mul, sigmoid_rows, add, gather, copy };

  CardDevice(std::shared_ptr<Gpu> gpu, DeviceInfo info);
  Status open(const Steps::Options& options);
  Status bring_codebooks();
  Result<Region> zeroes(size_t size_bytes, const char* what);

  template <class Args>
  void call(const PipelineKey& pipeline, std::array<uint32_t, 3> groups, const Args& args,
            std::initializer_list<Touched> reads, std::initializer_list<Touched> writes, Work work,
            const Cost& cost = {}) {
    static_assert(std::is_trivially_copyable_v<Args>);
    steps_->call({.pipeline = pipeline,
                  .groups = groups,
                  .push = std::as_bytes(std::span(&args, 1)),
                  .reads = {reads.begin(), reads.size()},
                  .writes = {writes.begin(), writes.size()},
                  .work = work,
                  .cost = cost.bytes == 0 ? Cost{.bytes = size_of(reads) + size_of(writes),
                                                 .operations = cost.operations}
                                          : cost});
  }

  static uint64_t size_of(std::initializer_list<Touched> all) {
    uint64_t bytes = 0;
    for (const Touched& each : all) bytes += each.end - each.begin;
    return bytes;
  }
  bool reserve(Scratch& scratch, size_t size_bytes);
  void normalize(const Tensor& x, const Tensor& gain, float epsilon, const Tensor* gate,
                 const Tensor& y);
  // Rows of y from those of a and b, or of a alone; `list` is of Elementwise::gather.
  void elementwise(Elementwise operation, const FloatRows& a, const FloatRows& b,
                   const FloatRows& y, Work work, uint64_t list = 0);
  void elementwise(Elementwise operation, const Tensor& a, const Tensor& b, const Tensor& y);
  Place packed(const Tensor& x);
  void write_bytes(std::span<const std::byte> bytes, const Place& to, Work work);
  void read_bytes(const Place& from, std::span<std::byte> bytes);
  Inputs inputs_for(const Tensor& x, size_t sharing, Work work);
  Inputs quantize(const FloatRows& x, size_t sharing, Scratch& scratch, Work work);
  void multiply(const Weight& weight, const Inputs& inputs, const Tensor& bias,
                const LinearRows& rows, Work work);
  void attend(const VulkanKvCache& cache, size_t layer, const BatchData::Addresses& batch,
              const Tensor& q, float scale, const Tensor& y);
  // Rows whose attention was computed in spans; `rows` is the address of their places.
  struct SpanRows {
    uint64_t rows = 0;
    size_t first_row = 0;
    size_t num_rows = 0;
    size_t num_spans = 0;
    size_t head_dim = 0;
  };
  void merge_spans(const SpanRows& spans, const Tensor& y);
  size_t group_choices(VulkanRouting& routing, const ExpertWeights& weights, size_t tile_rows);
  void combine_choices(const VulkanRouting& routing, const ExpertWeights& weights, const Tensor& y);

  std::shared_ptr<Gpu> gpu_;
  DeviceInfo info_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<Steps> steps_;
  std::unique_ptr<Staging> staging_;
  BatchData batch_data_;
  Region codebooks_;
  Scratch inputs_32_{.region = {}, .what = "inputs in 8 bits"};
  Scratch inputs_256_{.region = {}, .what = "inputs in 8 bits"};
  Scratch halves_{.region = {}, .what = "inputs of experts in 8 bits"};
  Scratch spans_{.region = {}, .what = "spans of attention"};
  Scratch delta_{.region = {}, .what = "keys of the delta net"};
  Scratch packed_{.region = {}, .what = "rows to be read"};
  Scratch best_{.region = {}, .what = "columns of the largest values"};
};

// Rows up to here are multiplied at the speed of the weight's memory; more, in tiles.
inline constexpr size_t kVectorRowsMax = 8;

// Rows, which kernels find in y and z.
struct RowGroups {
  uint32_t y;
  uint32_t z;
};
RowGroups spread_rows(size_t rows);

inline uint32_t groups_of(size_t count, size_t size) { return uint32_t((count + size - 1) / size); }

}  // namespace evener::device::vulkan
