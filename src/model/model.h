#pragma once

#include <cstddef>
#include <utility>

#include "model/config.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// One model's weights on one rank, and its forward pass. Made by load_model(); immutable after it.
class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Config& config() const { return config_; }

  // Floats of scratch that forward() needs at most for passes of up to this many rows.
  virtual size_t scratch_floats(size_t num_rows, size_t num_logit_rows) const = 0;

  // Runs the pass: stores its rows' keys, values and states and returns the logits
  // [input.logit_rows.size(), vocab_size] in the pass's scratch: read them before the next pass.
  virtual device::Tensor forward(Pass& pass) const = 0;

  // Shows the visitor every tensor of the model, in the order of computation.
  virtual void visit(TensorVisitor& visitor) = 0;

 protected:
  explicit Model(Config config)
      : config_(std::move(config)), rope_(rope_frequencies(config_.rope)) {}

  const Config config_;
  const RopeFrequencies rope_;
};

}  // namespace evener::model
