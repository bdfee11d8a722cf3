#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/cpu/expert_groups.h"
#include "device/cpu/memory.h"
#include "device/experts.h"

namespace evener::device::cpu {

// Room of expert_ffn(). Places are those of the ExpertGroups, panels too.
struct ExpertRoom {
  Memory rows;            // [places, hidden]: inputs, for float weights; then results
  Memory halves;          // [places, 2 * intermediate]: gate, up
  Memory rows_q8_0;       // panels of inputs
  Memory rows_q8_k;       // panels of inputs
  Memory halves_rounded;  // panels of silu(gate) * up

  // Error: out_of_memory.
  static Result<ExpertRoom> create(const RoutingShape& shape, std::string_view what,
                                   MemoryPlace place = {});
};

class CpuRouting final : public Routing {
 public:
  CpuRouting(const RoutingShape& routing_shape, ExpertRoom room);

  // Choices of the pass in progress, [rows, K]; filled between begin() and finish().
  void begin(size_t num_rows);
  void finish(size_t layer);  // sorts and counts them
  size_t num_rows() const { return num_rows_; }
  int32_t* experts(size_t row) { return experts_.data() + row * shape().num_chosen; }
  float* weights(size_t row) { return weights_.data() + row * shape().num_chosen; }

  // What a row sums up: places, and the weights of what stands there.
  struct Terms {
    std::span<const int32_t> places;
    std::span<const float> weights;
  };
  Terms terms(size_t row) const;       // all its choices
  Terms kept_terms(size_t row) const;  // those that keep() kept, in the same order
  void keep(Range places);

  std::span<const int32_t> all_experts() const { return experts_; }
  std::span<const float> all_weights() const { return weights_; }
  std::span<const uint64_t> uses(size_t layer) const;
  void reset_uses() { uses_.assign(uses_.size(), 0); }
  const ExpertGroups& groups() const { return groups_; }
  const ExpertRoom& room() const { return room_; }

 private:
  size_t num_rows_ = 0;
  std::vector<int32_t> experts_;
  std::vector<float> weights_;
  std::vector<uint64_t> uses_;  // [layers, X]
  ExpertGroups groups_;
  std::vector<int32_t> kept_places_;  // row after row
  std::vector<float> kept_weights_;
  std::vector<size_t> kept_ends_;  // [rows]
  ExpertRoom room_;
};

}  // namespace evener::device::cpu
