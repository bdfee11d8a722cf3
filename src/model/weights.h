#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace evener::model {

// A weight matrix of a model, [outputs, inputs]; empty if it is optional and absent.
struct Matrix {
  std::unique_ptr<device::Weight> weight;

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

// How a tensor is cut when several ranks share a layer.
enum class Shard {
  none,    // every rank has all of it
  column,  // outputs are split
  row,     // inputs are split; the ranks' results are summed
};

enum class Presence { required, optional };

// What a family says of one tensor. Names are the GGUF file's; shape is [outputs, inputs] or
// [count].
struct TensorSpec {
  std::string name;
  std::vector<size_t> shape;
  Shard shard = Shard::none;
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

  void operator()(Matrix& slot, const char* name, std::initializer_list<size_t> shape,
                  Shard shard) {
    visitor_.matrix(slot, spec(name, shape, shard, Presence::required));
  }
  void operator()(Vector& slot, const char* name, std::initializer_list<size_t> shape) {
    visitor_.vector(slot, spec(name, shape, Shard::none, Presence::required));
  }
  void optional(Vector& slot, const char* name, std::initializer_list<size_t> shape) {
    visitor_.vector(slot, spec(name, shape, Shard::none, Presence::optional));
  }

 private:
  TensorSpec spec(const char* name, std::vector<size_t> shape, Shard shard,
                  Presence presence) const {
    return {.name = prefix_ + name,
            .shape = std::move(shape),
            .shard = shard,
            .presence = presence,
            .substitute = {}};
  }

  TensorVisitor& visitor_;
  std::string prefix_;
};

}  // namespace evener::model
