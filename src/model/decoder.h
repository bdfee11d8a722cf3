#pragma once

#include <cstddef>
#include <vector>

#include "model/layers.h"
#include "model/model.h"

namespace evener::model {

// A model that is one kind of layer repeated between its two ends. A Layer has
//     Layer(const Config& c, size_t index)           counted within the part, as c is
//     void visit(const Config& whole, const Part& p, LayerVisitor v)
//     void forward(Pass& pass, const Config& c, const device::Tensor& x) const    x changes in
//     place
//     static size_t scratch_floats(const Config& c, size_t num_rows)    at most, besides x
template <class Layer>
class Decoder final : public Model {
 public:
  Decoder(const Config& whole, const Part& part) : Model(whole, part) {
    layers_.reserve(config_.num_layers);
    for (size_t n = 0; n < config_.num_layers; ++n) layers_.emplace_back(config_, n);
  }

  void visit(TensorVisitor& visitor) override {
    ends_.visit(whole_, part_, visitor);
    for (size_t n = 0; n < layers_.size(); ++n)
      layers_[n].visit(whole_, part_, LayerVisitor(visitor, part_.layers.begin + n));
  }

  device::Tensor forward(Pass& pass) const override {
    const device::Tensor x = part_.has_first_layer ? pass.embed(*ends_.embedding, part_.vocabulary)
                                                   : pass.receive_rows(config_.hidden_size);
    pass.prepare_rope(config_.rope, rope_);
    for (const Layer& layer : layers_) layer.forward(pass, config_, x);
    pass.compare(x);
    if (part_.has_last_layer) return ends_.logits(pass, config_, x);
    pass.send_rows(x);
    return {};
  }

  size_t scratch_floats(size_t num_rows, size_t num_logit_rows) const override {
    return Ends::scratch_floats(config_, part_, num_rows, num_logit_rows,
                                Layer::scratch_floats(config_, num_rows));
  }

 private:
  Ends ends_;
  std::vector<Layer> layers_;
};

}  // namespace evener::model
