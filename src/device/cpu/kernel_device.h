#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "device/cpu/attention_call.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/cpu/linear.h"
#include "device/cpu/memory.h"
#include "device/device.h"

namespace evener::device::cpu {

// The CPU device: checks the shapes of each operation, splits it over the pool's threads and calls
// the kernels of one instruction set. Work that is smaller than waking a thread stays on the
// caller.
class KernelDevice : public Device {
 public:
  KernelDevice(DeviceInfo info, const OpsKernels& kernels, const LinearKernels& linear_kernels,
               std::unique_ptr<ThreadPool> pool, MemoryPlace place = {});

  const DeviceInfo& info() const override { return info_; }
  Status bind_thread() override { return pool_->pin_caller(); }
  Result<std::unique_ptr<Buffer>> allocate(size_t size_bytes) override;
  Result<std::unique_ptr<Weight>> upload(const WeightSource& source, WeightUse use) override;
  Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) override;
  Result<std::unique_ptr<StateCache>> create_state_cache(const StateCacheShape& shape) override;
  Result<std::unique_ptr<Routing>> create_routing(const RoutingShape& shape) override;

  void write(std::span<const float> values, const Tensor& y) override;
  void read(const Tensor& x, std::span<float> values) override;
  void arg_max(const Tensor& x, std::span<int32_t> best) override;
  float* host_data(const Tensor& x) override;
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

 private:
  // A part of a matrix: columns [begin, end) of one row.
  using Piece = FunctionRef<void(size_t row, size_t begin, size_t end)>;

  // body(begin, end, thread) over [0, count), where one index costs about `cost` simple float
  // operations.
  void split(size_t count, size_t cost, FunctionRef<void(size_t, size_t, size_t)> body);
  void copy(const void* from, void* to, size_t size_bytes);
  void split_elements(size_t rows, size_t cols, size_t cost, Piece body);
  Status grow(Memory& memory, size_t size_bytes);
  Status reserve_scratch(size_t floats);
  float* scratch(size_t thread, size_t floats) const;
  AttentionUnit attention_unit(const AttentionCall& call, const Batch& batch, size_t index) const;
  bool attend_by_spans(const AttentionCall& call, const Batch& batch);
  void gate_rows(const Tensor& x, const Tensor& gate, const Tensor& y);
  void normalize(void (*kernel)(const NormArgs&), const NormArgs& args);

  DeviceInfo info_;
  const OpsKernels& kernels_;
  const LinearKernels& linear_kernels_;
  std::unique_ptr<ThreadPool> pool_;
  MemoryPlace place_;  // of weights, caches and what else is allocated
  LinearScratch linear_scratch_;
  std::vector<Memory> scratch_;  // one a thread; as large as the caches made so far need
  Memory span_states_;
  std::vector<size_t> unit_ends_;  // of attention(); a member to keep its memory
};

// For attention in spans, per thread: fewer units than kSpanUnits are split, into kSpanStates
// states of kSpanRowsMax rows at most that wait to be merged.
constexpr size_t kSpanUnits = 2;
constexpr size_t kSpanStates = 8;
constexpr size_t kSpanRowsMax = 16;
size_t span_states_floats(const KvCacheShape& shape, size_t num_threads);

// Floats of scratch that a thread needs for one cache's operations.
size_t attention_scratch_floats(const KvCacheShape& shape);
size_t recurrent_scratch_floats(const StateCacheShape& shape);

}  // namespace evener::device::cpu
