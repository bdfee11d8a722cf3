#include "hf/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/assert.h"
#include "quant/format.h"
#include "tensor/float16.h"

namespace evener::hf {
namespace {

constexpr uint64_t kRowsPerPiece = 32;  // neighbours share the words of codes they lie in
constexpr float kHalfMax = 65504;       // F16's largest

uint64_t bytes_of_row(DType dtype, uint64_t columns) {
  return columns / info(dtype).block_size * info(dtype).block_bytes;
}

uint64_t moved(const Moves& to, uint64_t index) { return to.empty() ? index : to[index]; }

float changed(Change change, float value) {
  switch (change) {
    case Change::none:
      return value;
    case Change::add_one:
      return value + 1;
    case Change::minus_exp:
      return -std::exp(value);
  }
  return value;
}

// Makes some rows of one ingredient; many of these work at once.
class Cook {
 public:
  Cook(const Recipe& recipe, std::span<std::byte> room)
      : recipe_(recipe), row_bytes_(bytes_of_row(recipe.dtype, recipe.columns)), room_(room) {}

  void make_rows(size_t index, uint64_t begin, uint64_t count);
  // The first ingredient, in the order of the stack, with a value that cannot be; or none.
  const Ingredient* spoilt() const;

 private:
  std::byte* place_of(size_t index, uint64_t row) const {
    const uint64_t first = index * recipe_.rows;
    return room_.data() + (first + moved(recipe_.moves.rows, row)) * row_bytes_;
  }
  void repack_rows(size_t index, uint64_t begin, uint64_t count);
  void decode_rows(size_t index, uint64_t begin, uint64_t count);
  void copy_row(size_t index, uint64_t row);
  void convert_row(size_t index, uint64_t row);
  // False if a value has no half.
  bool write_halves(const float* values, std::byte* to) const;
  void write_floats(const float* values, std::byte* to) const;
  void mark_spoilt(size_t index);

  const Recipe& recipe_;
  uint64_t row_bytes_;
  std::span<std::byte> room_;
  std::atomic<size_t> first_spoilt_ = SIZE_MAX;
};

void Cook::make_rows(size_t index, uint64_t begin, uint64_t count) {
  const Ingredient& ingredient = recipe_.ingredients[index];
  if (ingredient.coded != nullptr) {
    if (info(recipe_.dtype).block_size > 1) return repack_rows(index, begin, count);
    return decode_rows(index, begin, count);
  }
  const bool same_type = safetensors::info(ingredient.tensor->element).dtype == recipe_.dtype;
  for (uint64_t row = begin; row < begin + count; ++row) {
    if (same_type && recipe_.change == Change::none) {
      copy_row(index, row);
    } else {
      convert_row(index, row);
    }
  }
}

// Columns move in whole blocks.
void Cook::repack_rows(size_t index, uint64_t begin, uint64_t count) {
  std::vector<std::byte> rows(count * row_bytes_);
  recipe_.ingredients[index].coded->repack(recipe_.dtype, begin, count, rows.data());
  const DTypeInfo& type = info(recipe_.dtype);
  for (uint64_t k = 0; k < count; ++k) {
    const std::byte* const row = rows.data() + k * row_bytes_;
    std::byte* const to = place_of(index, begin + k);
    for (uint64_t column = 0; column < recipe_.columns; column += type.block_size) {
      const uint64_t moved_block = moved(recipe_.moves.columns, column) / type.block_size;
      std::memcpy(to + moved_block * type.block_bytes,
                  row + column / type.block_size * type.block_bytes, type.block_bytes);
    }
  }
}

void Cook::decode_rows(size_t index, uint64_t begin, uint64_t count) {
  const safetensors::CodedMatrix& coded = *recipe_.ingredients[index].coded;
  std::vector<float> values(count * recipe_.columns);
  coded.decode(begin, count, values.data());
  for (uint64_t k = 0; k < count; ++k) {
    float* const row = values.data() + k * recipe_.columns;
    std::byte* const to = place_of(index, begin + k);
    if (recipe_.dtype == DType::F32) {
      write_floats(row, to);
    } else if (!write_halves(row, to)) {
      mark_spoilt(index);
    }
  }
}

bool Cook::write_halves(const float* values, std::byte* to) const {
  bool fits = true;
  for (uint64_t column = 0; column < recipe_.columns; ++column) {
    fits = fits && std::abs(values[column]) <= kHalfMax;  // false for what is no number
    const uint16_t half = f32_to_f16(values[column]);
    std::memcpy(to + moved(recipe_.moves.columns, column) * sizeof half, &half, sizeof half);
  }
  return fits;
}

void Cook::write_floats(const float* values, std::byte* to) const {
  for (uint64_t column = 0; column < recipe_.columns; ++column) {
    const float value = changed(recipe_.change, values[column]);
    std::memcpy(to + moved(recipe_.moves.columns, column) * sizeof value, &value, sizeof value);
  }
}

void Cook::copy_row(size_t index, uint64_t row) {
  const std::byte* const from = recipe_.ingredients[index].tensor->bytes.data() + row * row_bytes_;
  std::byte* const to = place_of(index, row);
  if (recipe_.moves.columns.empty()) {
    std::memcpy(to, from, row_bytes_);
    return;
  }
  const uint64_t width = row_bytes_ / recipe_.columns;
  for (uint64_t column = 0; column < recipe_.columns; ++column) {
    std::memcpy(to + recipe_.moves.columns[column] * width, from + column * width, width);
  }
}

void Cook::convert_row(size_t index, uint64_t row) {
  const safetensors::Tensor& tensor = *recipe_.ingredients[index].tensor;
  const DType stored = *safetensors::info(tensor.element).dtype;
  const uint64_t stored_bytes = bytes_of_row(stored, recipe_.columns);
  std::vector<float> values(recipe_.columns);
  quant::find_format(stored)->decode(tensor.bytes.subspan(row * stored_bytes, stored_bytes),
                                     values.data());
  write_floats(values.data(), place_of(index, row));
}

void Cook::mark_spoilt(size_t index) {
  size_t first = first_spoilt_;
  while (index < first && !first_spoilt_.compare_exchange_weak(first, index)) {
  }
}

const Ingredient* Cook::spoilt() const {
  return first_spoilt_ == SIZE_MAX ? nullptr : &recipe_.ingredients[first_spoilt_];
}

}  // namespace

bool Recipe::is_plain_copy() const {
  const Ingredient& first = ingredients.front();
  return ingredients.size() == 1 && first.coded == nullptr && change == Change::none &&
         moves.rows.empty() && moves.columns.empty() &&
         safetensors::info(first.tensor->element).dtype == dtype;
}

uint64_t Recipe::size_bytes() const {
  return ingredients.size() * rows * bytes_of_row(dtype, columns);
}

Status cook(const Recipe& recipe, const safetensors::Folder& folder, ThreadPool* pool,
            std::span<std::byte> room) {
  EVENER_ASSERT(room.size() == recipe.size_bytes());
  Cook worker(recipe, room);
  const uint64_t pieces_each = (recipe.rows + kRowsPerPiece - 1) / kRowsPerPiece;
  const auto make_pieces = [&](size_t begin, size_t end) {
    for (size_t piece = begin; piece < end; ++piece) {
      const uint64_t row = piece % pieces_each * kRowsPerPiece;
      worker.make_rows(piece / pieces_each, row, std::min(kRowsPerPiece, recipe.rows - row));
    }
  };
  const size_t num_pieces = recipe.ingredients.size() * pieces_each;
  if (pool == nullptr) {
    make_pieces(0, num_pieces);
  } else {
    pool->parallel_for(num_pieces, 1, make_pieces);
  }
  const Ingredient* spoilt = worker.spoilt();
  if (spoilt == nullptr) return {};
  return folder.tensor_error(*spoilt->tensor,
                             "decodes to a value that is no number or beyond F16's range");
}

}  // namespace evener::hf
