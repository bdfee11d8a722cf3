#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "model/range.h"

namespace evener::model {

// A weight matrix of a model, [outputs, inputs], or one for each expert, [experts, outputs,
// inputs]; empty if it is optional and absent.
struct Matrix {
  std::unique_ptr<device::Weight> weight;
  std::vector<std::byte> made;  // what an embedding is read from that no file holds as it is

  const device::Weight& operator*() const { return *weight; }
  const device::Weight* get() const { return weight.get(); }
  explicit operator bool() const { return weight != nullptr; }
};

// Small f32 parameters of a model: gains, biases, convolution taps; a null buffer if absent.
struct Vector {
  std::unique_ptr<device::Buffer> buffer;
  device::Tensor tensor;

  explicit operator bool() const { return buffer != nullptr; }
};

// What one of ours has of a tensor in a file, which may hold several of ours, and more than the
// part of a rank. Ranges are in our order; an empty list means all there is.
struct Cut {
  std::vector<Range> experts = {};  // matrices of a stack
  std::vector<Range> rows = {};     // outputs of each matrix; values of a vector
  std::vector<Range> columns = {};  // inputs
};

// Rows, or columns, of members of which each has `width`.
inline Cut rows_of(const Range& members, size_t width = 1) {
  return {.rows = {scaled(members, width)}};
}
inline Cut columns_of(const Range& members, size_t width = 1) {
  return {.columns = {scaled(members, width)}};
}

enum class Presence { required, optional };

// What a family says of one tensor. Names are the GGUF file's; shape is the file's too: [outputs,
// inputs], [experts, outputs, inputs] or [count].
struct TensorSpec {
  std::string name;
  std::vector<size_t> shape;
  Cut cut = {};
  Presence presence = Presence::required;
  device::WeightUse use = device::WeightUse::linear;
  std::string substitute = {};  // tensor that stands in when this one is absent; empty if none may
};

// Walks the tensors of a model. A family writes its list of tensors once, in visit(); checking,
// summing up and loading are visitors.
class TensorVisitor {
 public:
  virtual ~TensorVisitor() = default;
  virtual void matrix(Matrix& slot, const TensorSpec& spec) = 0;
  virtual void vector(Vector& slot, const TensorSpec& spec) = 0;
};

// A visitor that sees names behind a prefix: "blk.3." in front of "attn_norm.weight".
class LayerVisitor {
 public:
  LayerVisitor(TensorVisitor& visitor, size_t layer)
      : visitor_(visitor), prefix_("blk." + std::to_string(layer) + ".") {}

  void operator()(Matrix& slot, const std::string& name, std::initializer_list<size_t> shape,
                  const Cut& cut = {}) {
    visitor_.matrix(slot, spec(name, shape, cut, Presence::required));
  }
  void operator()(Vector& slot, const std::string& name, std::initializer_list<size_t> shape,
                  const Cut& cut = {}) {
    visitor_.vector(slot, spec(name, shape, cut, Presence::required));
  }
  void optional(Vector& slot, const std::string& name, std::initializer_list<size_t> shape,
                const Cut& cut = {}) {
    visitor_.vector(slot, spec(name, shape, cut, Presence::optional));
  }

 private:
  TensorSpec spec(const std::string& name, std::vector<size_t> shape, const Cut& cut,
                  Presence presence) const {
    return {.name = prefix_ + name, .shape = std::move(shape), .cut = cut, .presence = presence};
  }

  TensorVisitor& visitor_;
  std::string prefix_;
};

}  // namespace evener::model
