#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device/device.h"
#include "model/config.h"
#include "model/range.h"
#include "model/rank_memory.h"
#include "parallel/grid.h"

namespace evener::model {

// What one step asks of a rank.
struct PassInput {
  std::span<const int32_t> tokens;      // [rows], each below vocab_size
  std::span<const int32_t> positions;   // [rows]
  device::Batch batch;                  // slices covering the rows
  std::span<const int32_t> logit_rows;  // rows whose logits are wanted, rising; may be empty
};

// A step on one rank: its input, its memory, and the device's operations in the words a model is
// written in. Each verb that returns a tensor takes it from the scratch. Lives for one forward().
class Pass {
 public:
  Pass(device::Device& device, const parallel::RankComms& comms, RankMemory& memory,
       const PassInput& input)
      : device_(device), comms_(comms), memory_(memory), input_(input) {}

  // Gives back all tensors made since its construction.
  class Scope {
   public:
    explicit Scope(Pass& pass) : scratch_(pass.memory_.scratch), mark_(scratch_.used()) {}
    ~Scope() { scratch_.release_to(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Scratch& scratch_;
    size_t mark_;
  };

  const PassInput& input() const { return input_; }
  device::Device& device() { return device_; }
  size_t num_rows() const { return input_.tokens.size(); }
  device::Tensor make(size_t rows, size_t cols) { return memory_.scratch.make(rows, cols); }

  // The rows of all tokens. `weight` has those of `vocabulary`; the ranks that share it have the
  // others.
  device::Tensor embed(const device::Weight& weight, const Range& vocabulary);

  // Rows [rows, width] from the rank with the layer before, or to the one with the layer behind.
  device::Tensor receive_rows(size_t width);
  void send_rows(const device::Tensor& x);

  device::Tensor linear(const device::Tensor& x, const device::Weight& weight,
                        const device::Tensor& bias = {});

  // Several maps of one input at once: the input is prepared once and the device has more to spread
  // over its cores. Map n's result is the n-th tensor.
  struct Map {
    const device::Weight* weight = nullptr;
    device::Tensor bias = {};
  };
  template <size_t N>
  std::array<device::Tensor, N> linear(const device::Tensor& x, const std::array<Map, N>& maps) {
    std::array<device::Tensor, N> results;
    std::array<device::LinearPart, N> parts;
    for (size_t n = 0; n < N; ++n) {
      results[n] = make(x.rows, maps[n].weight->outputs());
      parts[n] = {.weight = maps[n].weight, .bias = maps[n].bias, .y = results[n]};
    }
    device_.linear(x, parts);
    return results;
  }

  device::Tensor rms_norm(const device::Tensor& x, const device::Tensor& gain, float epsilon);

  // Angles of all rows, made once a pass.
  void prepare_rope(const RopeConfig& config, const RopeFrequencies& frequencies);
  // heads [rows * heads, head_dim], changed in place.
  void rope(const device::Tensor& heads);

  // Stores k and v for `layer` (counting attention layers), then attends. Scale is
  // 1/sqrt(head_dim).
  device::Tensor attention(size_t layer, const device::Tensor& q, const device::Tensor& k,
                           const device::Tensor& v);

  device::Tensor causal_conv_silu(size_t layer, const device::Tensor& x,
                                  const device::Tensor& taps);
  device::Tensor gated_delta_net(size_t layer, const device::DeltaNetArgs& args);

  // Chooses experts for each row by its logits, then lets them compute h. `layer` counts layers
  // with experts.
  device::Tensor experts(size_t layer, const device::Tensor& h, const device::Tensor& logits,
                         const device::ExpertWeights& weights);

  device::Tensor gated_rms_norm(const device::Tensor& x, const device::Tensor& gain, float epsilon,
                                const device::Tensor& gate);
  device::Tensor silu_mul(const device::Tensor& gate, const device::Tensor& up);
  device::Tensor sigmoid_mul(const device::Tensor& x, const device::Tensor& gate);

  // x += sum of `part` over the ranks that share the layer.
  void add_reduced(const device::Tensor& x, const device::Tensor& part);

  // Breaks the groups if x is not the same on all ranks that share the layer.
  void compare(const device::Tensor& x);

  // The parts of all ranks that share the layer side by side, [rows, cols], on the first of them; a
  // tensor without rows on the others.
  device::Tensor gather_columns(const device::Tensor& part, size_t cols);

  // The rows whose logits are wanted.
  device::Tensor logit_rows(const device::Tensor& x);

 private:
  device::Device& device_;
  const parallel::RankComms& comms_;
  RankMemory& memory_;
  const PassInput& input_;
  device::Tensor angles_;
  device::RopePairing pairing_ = device::RopePairing::halves;
};

}  // namespace evener::model
