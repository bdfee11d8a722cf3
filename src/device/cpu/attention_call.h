#pragma once

#include <cstddef>
#include <cstdint>

#include "device/batch.h"
#include "device/cpu/cpu_kv_cache.h"
#include "device/cpu/kernels/ops_kernels.h"
#include "device/tensor.h"

namespace evener::device::cpu {

// The arithmetic of caches of one type.
const KvKernels& kv_kernels(const OpsKernels& kernels, KvType type);

// Neighbouring tokens of a slice and some query heads of one KV head: one piece of work.
struct AttentionUnit {
  const Slice* slice;
  size_t first_token;
  size_t tokens;
  size_t kv_head;
  size_t first_head;
  size_t num_heads;

  size_t first_position() const { return slice->first_position + first_token; }
  size_t position_end() const { return first_position() + tokens; }
  size_t rows() const { return tokens * num_heads; }
};

// One attention operation, cut into units that any threads may compute in any order.
//
// The softmax is summed from scratch over each span of kSpan positions, and the spans are merged in
// rising order: whether one thread walks over all spans of a unit or several take one each, the
// bits are the same.
class AttentionCall {
 public:
  static constexpr size_t kRowsMax = 64;  // query rows that share one pass over the keys: enough to
                                          // hide the conversion of a tile, few enough for their
                                          // sums to stay in the second-level cache
  static constexpr size_t kSpan = 512;
  static_assert(kSpan % kSoftmaxBlock == 0);

  // Aborts if the shapes disagree.
  AttentionCall(const OpsKernels& kernels, const CpuKvCache& cache, size_t layer,
                const Batch& batch, const Tensor& q, float scale, const Tensor& y);

  size_t num_units(const Slice& slice) const;
  AttentionUnit unit(const Slice& slice, size_t index) const;
  size_t num_spans(const AttentionUnit& unit) const;

  // A unit in all its spans. `room` has room_floats().
  void attend(const AttentionUnit& unit, float* room) const;

  // The same in parts: each span into a state of its own, all into one, that one into y.
  void attend_span(const AttentionUnit& unit, size_t span, float* room,
                   const AttentionState& out) const;
  void clear(const AttentionState& state, size_t rows) const;
  void merge(const AttentionState& into, const AttentionState& from, size_t rows) const;
  void finish(const AttentionUnit& unit, const AttentionState& state) const;

  // Simple float operations of a unit.
  size_t cost(const AttentionUnit& unit) const;

  static size_t room_floats(size_t padded);
  static size_t state_floats(size_t rows, size_t padded) { return rows * (padded + 2); }
  static AttentionState state_at(float* place, size_t rows, size_t padded);

  size_t padded() const { return padded_; }

 private:
  void load_queries(const AttentionUnit& unit, float* to) const;
  AttentionArgs kernel_args(const AttentionUnit& unit, float* room) const;
  void run_span(AttentionArgs args, const AttentionUnit& unit, size_t span,
                const AttentionState& out) const;

  const OpsKernels& kernels_;
  const CpuKvCache& cache_;
  size_t layer_;
  const KvKernels& kv_;
  float scale_;
  size_t head_dim_;
  size_t padded_;
  size_t group_;  // query heads of a KV head
  const float* q_;
  size_t q_stride_;
  float* y_;
  size_t y_stride_;
};

}  // namespace evener::device::cpu
