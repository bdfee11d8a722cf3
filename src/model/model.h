#pragma once

#include <cstddef>
#include <utility>

#include "model/config.h"
#include "model/part.h"
#include "model/pass.h"
#include "model/weights.h"

namespace evener::model {

// One model's weights on one rank, all of them or a part, and its forward pass. Made by
// load_model(); immutable after it.
class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The sizes that this rank computes with: config_of(whole(), part()).
  const Config& config() const { return config_; }
  const Config& whole() const { return whole_; }
  const Part& part() const { return part_; }

  // Floats of scratch that forward() needs at most for passes of up to this many rows.
  virtual size_t scratch_floats(size_t num_rows, size_t num_logit_rows) const = 0;

  // Runs the pass: stores its rows' keys, values and states. Shard 0 of the last layers returns the
  // logits [input.logit_rows.size(), vocab_size] in the pass's scratch: read them before the next
  // pass. Other ranks return a tensor without rows. All ranks of a model run the same passes in the
  // same order; see Pass for where they meet.
  virtual device::Tensor forward(Pass& pass) const = 0;

  // Shows the visitor every tensor of the part, in the order of computation.
  virtual void visit(TensorVisitor& visitor) = 0;

 protected:
  Model(const Config& whole, Part part)
      : whole_(whole),
        part_(std::move(part)),
        config_(config_of(whole_, part_)),
        rope_(rope_frequencies(config_.rope)) {}

  const Config whole_;
  const Part part_;
  const Config config_;
  const RopeFrequencies rope_;
};

}  // namespace evener::model
