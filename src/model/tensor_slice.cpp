#include "model/tensor_slice.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "quant/format.h"
#include "tensor/dtype.h"
#include "tensor/float16.h"

namespace evener::model {
namespace {

// A list that says what there is of `count`.
std::vector<Range> spelled_out(const std::vector<Range>& ranges, size_t count) {
  if (ranges.empty()) return {{.begin = 0, .count = count}};
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    EVENER_ASSERT(range.end() <= count);
    EVENER_ASSERT(range.count > 0);
    append(merged, range);
  }
  return merged;
}

// Rows of a vector: one with all values, or in [rows, count] those of the first axis.
size_t rows_of_vector(const TensorSpec& spec) { return spec.shape.front(); }
size_t values_of_row(const TensorSpec& spec) {
  return spec.shape.size() == 1 ? 1 : spec.shape.back();
}

}  // namespace

TensorSlice::TensorSlice(const TensorSpec& spec, const gguf::Tensor& tensor)
    : stored_(tensor.dtype) {
  const size_t rank = spec.shape.size();
  EVENER_ASSERT(rank == 2 || rank == 3);
  const size_t num_matrices = rank == 3 ? spec.shape[0] : 1;
  const size_t rows_each = spec.shape[rank - 2];
  num_values_ = spec.shape[rank - 1];
  row_bytes_ = tensor.size_bytes() / (num_matrices * rows_each);
  const std::vector<Range> experts = spelled_out(spec.cut.experts, num_matrices);
  const std::vector<Range> rows = spelled_out(spec.cut.rows, rows_each);
  columns_ = spelled_out(spec.cut.columns, num_values_);
  for (const Range& of_stack : experts) {
    for (size_t expert = of_stack.begin; expert < of_stack.end(); ++expert) {
      for (const Range& range : rows)
        append(pieces_, {.begin = expert * rows_each + range.begin, .count = range.count});
    }
  }
  num_experts_ = count_of(experts);
  outputs_ = count_of(rows);
  inputs_ = count_of(columns_);
  has_all_columns_ = columns_.size() == 1 && inputs_ == num_values_;
  const size_t block = info(stored_).block_size;
  for (const Range& range : columns_)
    cuts_blocks_ = cuts_blocks_ || range.begin % block != 0 || range.end() % block != 0;
}

DType TensorSlice::dtype() const { return cuts_blocks_ ? DType::F16 : stored_; }

size_t TensorSlice::size_bytes() const {
  const DTypeInfo& layout = info(dtype());
  return num_experts_ * outputs_ * (inputs_ / layout.block_size) * layout.block_bytes;
}

std::span<const std::byte> TensorSlice::of(std::span<const std::byte> tensor,
                                           std::vector<std::byte>& room) const {
  if (is_piece()) {
    return tensor.subspan(pieces_.front().begin * row_bytes_, pieces_.front().count * row_bytes_);
  }
  room.clear();
  room.reserve(size_bytes());
  std::vector<float> values(cuts_blocks_ ? num_values_ : 0);
  for (const Range& piece : pieces_) {
    for (size_t row = piece.begin; row < piece.end(); ++row) {
      const auto bytes = tensor.subspan(row * row_bytes_, row_bytes_);
      if (cuts_blocks_) {
        decode(bytes, values, room);
      } else {
        copy_blocks(bytes, room);
      }
    }
  }
  EVENER_ASSERT(room.size() == size_bytes());
  return room;
}

void TensorSlice::copy_blocks(std::span<const std::byte> row, std::vector<std::byte>& room) const {
  const DTypeInfo& layout = info(stored_);
  for (const Range& range : columns_) {
    const auto blocks = row.subspan(range.begin / layout.block_size * layout.block_bytes,
                                    range.count / layout.block_size * layout.block_bytes);
    room.insert(room.end(), blocks.begin(), blocks.end());
  }
}

void TensorSlice::decode(std::span<const std::byte> row, std::vector<float>& values,
                         std::vector<std::byte>& room) const {
  quant::find_format(stored_)->decode(row, values.data());
  for (const Range& range : columns_) {
    for (size_t i = range.begin; i < range.end(); ++i) {
      const uint16_t half = f32_to_f16(values[i]);
      const auto bytes = std::as_bytes(std::span(&half, 1));
      room.insert(room.end(), bytes.begin(), bytes.end());
    }
  }
}

size_t num_values(const TensorSpec& spec) {
  return count_of(spelled_out(spec.cut.rows, rows_of_vector(spec))) * values_of_row(spec);
}

std::vector<float> slice_values(const TensorSpec& spec, const gguf::Tensor& tensor,
                                std::span<const std::byte> bytes) {
  std::vector<float> all(tensor.num_elements());
  quant::find_format(tensor.dtype)->decode(bytes, all.data());
  const size_t width = values_of_row(spec);
  std::vector<float> values;
  values.reserve(num_values(spec));
  for (const Range& rows : spelled_out(spec.cut.rows, rows_of_vector(spec))) {
    const auto some = std::span(all).subspan(rows.begin * width, rows.count * width);
    values.insert(values.end(), some.begin(), some.end());
  }
  return values;
}

}  // namespace evener::model
