#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gguf/tensor.h"
#include "model/weights.h"

namespace evener::model {

// What a spec has of a matrix, or of a stack of them, in a file: rows by their place, columns in
// whole blocks. Columns that begin or end inside a block are decoded and become F16: right, but
// with up to 16 bits a weight. The tensor's shape is the spec's.
class TensorSlice {
 public:
  TensorSlice(const TensorSpec& spec, const gguf::Tensor& tensor);

  size_t num_experts() const { return num_experts_; }
  size_t outputs() const { return outputs_; }  // of each
  size_t inputs() const { return inputs_; }
  DType dtype() const;
  bool cuts_blocks() const { return cuts_blocks_; }
  size_t size_bytes() const;  // in dtype()

  // Whether it lies in one piece in the tensor.
  bool is_piece() const { return has_all_columns_ && pieces_.size() <= 1; }

  // The slice of the tensor's bytes; what does not lie there in one piece is made in `room`.
  std::span<const std::byte> of(std::span<const std::byte> tensor,
                                std::vector<std::byte>& room) const;

 private:
  void copy_blocks(std::span<const std::byte> row, std::vector<std::byte>& room) const;
  void decode(std::span<const std::byte> row, std::vector<float>& values,
              std::vector<std::byte>& room) const;

  DType stored_;
  size_t row_bytes_ = 0;       // of the tensor
  size_t num_values_ = 0;      // of its rows
  std::vector<Range> pieces_;  // neighbouring rows, counted over all matrices of the tensor
  std::vector<Range> columns_;
  bool has_all_columns_ = true;
  bool cuts_blocks_ = false;
  size_t num_experts_ = 1;
  size_t outputs_ = 0;
  size_t inputs_ = 0;
};

// The values that a spec has of a vector, [count], or of one a row, [rows, count], decoded.
std::vector<float> slice_values(const TensorSpec& spec, const gguf::Tensor& tensor,
                                std::span<const std::byte> bytes);

// How many values these are.
size_t num_values(const TensorSpec& spec);

}  // namespace evener::model
