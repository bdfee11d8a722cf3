#pragma once

#include <cstddef>
#include <vector>

#include "model/layers.h"
#include "model/model.h"

namespace evener::model {

// A model that is one kind of layer repeated between its two ends. A Layer has
//     Layer(const Config& c, size_t index)
//     void visit(const Config& c, LayerVisitor v)
//     void forward(Pass& pass, const Config& c, const device::Tensor& x) const    x changes in
//     place static size_t scratch_floats(const Config& c, size_t num_rows)              at most,
//     besides x
template <class Layer>
class Decoder final : public Model {
 public:
  explicit Decoder(const Config& config) : Model(config) {
    layers_.reserve(config_.num_layers);
    for (size_t n = 0; n < config_.num_layers; ++n) layers_.emplace_back(config_, n);
  }

  void visit(TensorVisitor& visitor) override {
    ends_.visit(config_, visitor);
    for (size_t n = 0; n < layers_.size(); ++n) layers_[n].visit(config_, LayerVisitor(visitor, n));
  }

  device::Tensor forward(Pass& pass) const override {
    const device::Tensor x = pass.embed(*ends_.embedding);
    pass.prepare_rope(config_.rope, rope_);
    for (const Layer& layer : layers_) layer.forward(pass, config_, x);
    return ends_.logits(pass, config_, x);
  }

  size_t scratch_floats(size_t num_rows, size_t num_logit_rows) const override {
    return Ends::scratch_floats(config_, num_rows, num_logit_rows,
                                Layer::scratch_floats(config_, num_rows));
  }

 private:
  Ends ends_;
  std::vector<Layer> layers_;
};

}  // namespace evener::model
