#pragma once

#include <cstddef>
#include <cstdint>

#include "device/tensor.h"
#include "device/weight.h"

namespace evener::device {

struct RoutingShape {
  size_t num_layers = 0;         // layers with experts, counted from 0
  size_t num_rows = 0;           // of a pass, at most
  size_t num_experts = 0;        // X
  size_t num_chosen = 0;         // K, by each row; 1 to num_experts
  size_t hidden_size = 0;        // inputs and outputs of an expert
  size_t intermediate_size = 0;  // between its two halves

  size_t num_choices() const { return num_rows * num_chosen; }

  // What a device may take for it: the inputs and results of all choices in f32 and, for quantised
  // weights, rounded to 8 bits in tiles of four rows of one expert, of which the last is part
  // empty.
  size_t bytes() const {
    const size_t rows = num_choices();
    const size_t tiled_rows = rows + 3 * (rows < num_experts ? rows : num_experts);
    return 4 * rows * (hidden_size + 2 * intermediate_size) +
           tiled_rows * (3 * hidden_size + 2 * intermediate_size) + 8 * num_layers * num_experts;
  }
};

// Which experts the rows of a pass go to, the room to compute them in, and how often each was
// chosen in each layer. One rank's.
class Routing {
 public:
  explicit Routing(const RoutingShape& shape) : shape_(shape) {}
  virtual ~Routing() = default;
  Routing(const Routing&) = delete;
  Routing& operator=(const Routing&) = delete;
  const RoutingShape& shape() const { return shape_; }

 private:
  RoutingShape shape_;
};

// How a router's logits become scores.
enum class Scoring { softmax, sigmoid };

struct RouteArgs {
  Scoring scoring = Scoring::softmax;
  Tensor bias = {};         // [1, X] on the scores, for the choice alone; a null buffer means none
  bool renormalise = true;  // weights are divided by their sum
  float scale = 1;          // on the weights
};

// Experts of one layer, each weight a stack of P matrices: those of the experts first_expert ..
// first_expert + P - 1. P is the routing's X, or less where other ranks have the others.
struct ExpertWeights {
  const Weight* gate = nullptr;  // [P, intermediate, hidden]
  const Weight* up = nullptr;    // [P, intermediate, hidden]
  const Weight* down = nullptr;  // [P, hidden, intermediate]
  size_t first_expert = 0;
};

}  // namespace evener::device
