#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace evener::gguf {

// How a metadata value is stored. The numbers are those of the file format.
enum class ValueType : uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

// "u32", "string", ...
std::string_view name(ValueType type);

// The type of a number from a file, or nothing if the format does not know it.
std::optional<ValueType> value_type_from_id(uint32_t id);

// Bytes that one value of a fixed-size type takes in a file; 0 for strings and arrays.
size_t size_bytes(ValueType type);

class Value;

// A metadata array; all elements have one type. Numbers stay in the file's bytes and are decoded on
// access; strings are views into them. Lives no longer than the File it came from.
class Array {
 public:
  // A fixed-size element type: `bytes` holds count * size_bytes(element_type) little-endian bytes,
  // at any address. Booleans were checked to be 0 or 1.
  Array(ValueType element_type, std::span<const std::byte> bytes);
  explicit Array(std::vector<std::string_view> strings);
  explicit Array(std::vector<Array> arrays);

  // Out of line: inlined into a variant, gcc 12 takes the spans for uninitialised.
  Array(const Array& other);
  Array(Array&& other) noexcept;
  Array& operator=(const Array& other);
  Array& operator=(Array&& other) noexcept;
  ~Array();

  ValueType element_type() const { return element_type_; }
  size_t size() const { return size_; }

  // Element `index` < size() of an array that holds no arrays.
  Value operator[](size_t index) const;

  // The elements if element_type() is string, else empty.
  std::span<const std::string_view> strings() const { return strings_; }
  // The elements if element_type() is array, else empty.
  std::span<const Array> arrays() const { return arrays_; }
  // The stored bytes of a fixed-size element type, else empty.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  ValueType element_type_;
  size_t size_;
  std::span<const std::byte> bytes_;
  std::vector<std::string_view> strings_;
  std::vector<Array> arrays_;
};

// One metadata value. The as_... forms convert between widths of one kind and give nothing when the
// kind differs or the number does not fit. Lives no longer than the File it came from.
class Value {
 public:
  using Held = std::variant<uint64_t, int64_t, double, bool, std::string_view, Array>;

  // `held` must be the alternative that `type` widens to.
  Value(ValueType type, Held held) : type_(type), held_(std::move(held)) {}
  // One value of a fixed-size type from size_bytes(type) little-endian bytes at any address.
  static Value decode(ValueType type, const std::byte* bytes);

  ValueType type() const { return type_; }

  std::optional<uint64_t> as_uint() const;  // any integer >= 0
  std::optional<int64_t> as_int() const;    // any integer <= INT64_MAX
  std::optional<double> as_float() const;   // f32 or f64, NaN and infinities included
  std::optional<bool> as_bool() const;
  std::optional<std::string_view> as_string() const;  // bytes as stored: UTF-8 was not checked
  const Array* as_array() const { return std::get_if<Array>(&held_); }

 private:
  ValueType type_;
  Held held_;
};

}  // namespace evener::gguf
