#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

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

// How a tensor is cut when several ranks share a layer.
enum class Shard {
  none,    // every rank has all of it
  column,  // outputs are split
  row,     // inputs are split; the ranks' results are summed
};

enum class Presence { required, optional };

// Neighbouring rows of a tensor, counted over all its matrices.
struct RowRange {
  size_t begin = 0;
  size_t count = 0;
};

// A tensor that holds more than one matrix of ours.
struct JointTensor {
  std::vector<size_t> shape;
  std::vector<RowRange> rows;  // those of this matrix, in its order
};

// What a family says of one tensor. Names are the GGUF file's; shape is [outputs, inputs],
// [experts, outputs, inputs] or [count].
struct TensorSpec {
  std::string name;
  std::vector<size_t> shape;
  Shard shard = Shard::none;
  Presence presence = Presence::required;
  device::WeightUse use = device::WeightUse::linear;
  std::string substitute = {};  // tensor that stands in when this one is absent; empty if none may
  std::optional<JointTensor> joint = {};  // what the tensor of this name is, if `shape` is a part
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
                  Shard shard) {
    visitor_.matrix(slot, spec(name, shape, shard, Presence::required));
  }
  void operator()(Vector& slot, const std::string& name, std::initializer_list<size_t> shape) {
    visitor_.vector(slot, spec(name, shape, Shard::none, Presence::required));
  }
  void part(Matrix& slot, const std::string& name, const JointTensor& joint,
            std::initializer_list<size_t> shape, Shard shard) {
    TensorSpec part = spec(name, shape, shard, Presence::required);
    part.joint = joint;
    visitor_.matrix(slot, part);
  }
  void optional(Vector& slot, const std::string& name, std::initializer_list<size_t> shape) {
    visitor_.vector(slot, spec(name, shape, Shard::none, Presence::optional));
  }

 private:
  TensorSpec spec(const std::string& name, std::vector<size_t> shape, Shard shard,
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
