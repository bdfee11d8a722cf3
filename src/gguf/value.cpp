#include "gguf/value.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/assert.h"

namespace evener::gguf {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read in place");

struct ValueTypeInfo {
  std::string_view name;
  size_t size_bytes;
};

// By number.
constexpr ValueTypeInfo kValueTypes[] = {
    {"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
    {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8},
};

template <class T>
T load(const std::byte* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
Value load_as(ValueType type, const std::byte* bytes) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                  std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
  return {type, Value::Held(static_cast<Wide>(load<T>(bytes)))};
}

}  // namespace

std::string_view name(ValueType type) { return kValueTypes[std::to_underlying(type)].name; }

std::optional<ValueType> value_type_from_id(uint32_t id) {
  if (id >= std::size(kValueTypes)) return std::nullopt;
  return static_cast<ValueType>(id);
}

size_t size_bytes(ValueType type) { return kValueTypes[std::to_underlying(type)].size_bytes; }

Array::Array(ValueType element_type, std::span<const std::byte> bytes)
    : element_type_(element_type), bytes_(bytes) {
  const size_t element_bytes = size_bytes(element_type);
  EVENER_ASSERT(element_bytes > 0);
  EVENER_ASSERT(bytes.size() % element_bytes == 0);
  size_ = bytes.size() / element_bytes;
}

Array::Array(std::vector<std::string_view> strings)
    : element_type_(ValueType::string), size_(strings.size()), strings_(std::move(strings)) {}

Array::Array(std::vector<Array> arrays)
    : element_type_(ValueType::array), size_(arrays.size()), arrays_(std::move(arrays)) {}

Array::Array(const Array& other) = default;
Array::Array(Array&& other) noexcept = default;
Array& Array::operator=(const Array& other) = default;
Array& Array::operator=(Array&& other) noexcept = default;
Array::~Array() = default;

Value Array::operator[](size_t index) const {
  EVENER_ASSERT(index < size_);
  EVENER_ASSERT(element_type_ != ValueType::array);
  if (element_type_ == ValueType::string) return {element_type_, strings_[index]};
  return Value::decode(element_type_, bytes_.data() + index * size_bytes(element_type_));
}

Value Value::decode(ValueType type, const std::byte* bytes) {
  switch (type) {
    case ValueType::u8:
      return load_as<uint8_t>(type, bytes);
    case ValueType::i8:
      return load_as<int8_t>(type, bytes);
    case ValueType::u16:
      return load_as<uint16_t>(type, bytes);
    case ValueType::i16:
      return load_as<int16_t>(type, bytes);
    case ValueType::u32:
      return load_as<uint32_t>(type, bytes);
    case ValueType::i32:
      return load_as<int32_t>(type, bytes);
    case ValueType::u64:
      return load_as<uint64_t>(type, bytes);
    case ValueType::i64:
      return load_as<int64_t>(type, bytes);
    case ValueType::f32:
      return load_as<float>(type, bytes);
    case ValueType::f64:
      return load_as<double>(type, bytes);
    case ValueType::boolean:
      return {type, load<uint8_t>(bytes) != 0};
    case ValueType::string:
    case ValueType::array:
      break;
  }
  assertion_failed("type has a fixed size", __FILE__, __LINE__);
}

std::optional<uint64_t> Value::as_uint() const {
  if (const auto* value = std::get_if<uint64_t>(&held_)) return *value;
  const auto* value = std::get_if<int64_t>(&held_);
  if (value == nullptr || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<int64_t> Value::as_int() const {
  if (const auto* value = std::get_if<int64_t>(&held_)) return *value;
  const auto* value = std::get_if<uint64_t>(&held_);
  if (value == nullptr || !std::in_range<int64_t>(*value)) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::optional<double> Value::as_float() const {
  if (const auto* value = std::get_if<double>(&held_)) return *value;
  return std::nullopt;
}

std::optional<bool> Value::as_bool() const {
  if (const auto* value = std::get_if<bool>(&held_)) return *value;
  return std::nullopt;
}

std::optional<std::string_view> Value::as_string() const {
  if (const auto* value = std::get_if<std::string_view>(&held_)) return *value;
  return std::nullopt;
}

}  // namespace evener::gguf
