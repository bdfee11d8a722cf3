#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tensor/dtype.h"

namespace evener::device {

// A matrix as a model file stores it: `outputs` rows of `inputs` values each, in blocks of `dtype`
// along the inputs; inputs is a multiple of the block size. Or a stack of such matrices, one behind
// the other: one an expert. `bytes` has exactly that many.
struct WeightSource {
  std::string_view name;  // for messages
  DType dtype = DType::F32;
  size_t outputs = 0;
  size_t inputs = 0;
  std::span<const std::byte> bytes;
  size_t num_experts = 1;
};

// What a weight is for: a device packs it for that use alone.
enum class WeightUse {
  linear,     // y = x W^T, of a single matrix or of an expert's
  embedding,  // rows are looked up. The CPU device reads them from `bytes`, which must stay mapped
};

// A weight on a device in the device's own layout. Made by Device::upload; immutable after it, so
// any thread may use it.
class Weight {
 public:
  Weight(DType dtype, size_t outputs, size_t inputs, size_t num_experts = 1)
      : dtype_(dtype), outputs_(outputs), inputs_(inputs), num_experts_(num_experts) {}
  virtual ~Weight() = default;
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;

  DType dtype() const { return dtype_; }
  size_t outputs() const { return outputs_; }
  size_t inputs() const { return inputs_; }
  size_t num_experts() const { return num_experts_; }  // matrices in the stack; 1 if it is none
  virtual size_t size_bytes() const = 0;               // of device memory

 private:
  DType dtype_;
  size_t outputs_;
  size_t inputs_;
  size_t num_experts_;
};

}  // namespace evener::device
