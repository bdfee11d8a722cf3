#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "device/weight.h"
#include "reference/linear.h"
#include "tensor/dtype.h"

namespace evener::device {

// A matrix in the file's layout, or a stack of them.
struct Stored {
  DType dtype;
  size_t outputs;
  size_t inputs;
  size_t num_experts;
  std::vector<std::byte> bytes;  // zeroes at first

  Stored(DType type, size_t num_outputs, size_t num_inputs, size_t experts = 1);

  WeightSource source() const { return source_of(0, num_experts); }
  WeightSource source_of(size_t first_expert, size_t count = 1) const;
  reference::StoredWeight judged() const { return {dtype, outputs, inputs, bytes}; }

  void fill(std::byte byte);
  // Numbers of sane sizes in place of the scales, which random bits would make huge or NaN.
  void set_scales(std::mt19937& random);
  // NaN in place of all scales that are f16.
  void break_scales();
};

// Every code legal, sane scales.
Stored random_weight(std::mt19937& random, DType dtype, size_t outputs, size_t inputs,
                     size_t num_experts = 1);

}  // namespace evener::device
