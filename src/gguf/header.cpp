#include "gguf/header.h"

#include <cstring>

#include "base/assert.h"

namespace evener::gguf {
namespace {

using Bytes = std::vector<std::byte>;

void put(Bytes& out, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const size_t start = out.size();
  out.resize(start + bytes.size());
  std::memcpy(out.data() + start, bytes.data(), bytes.size());
}

template <Number T>
void put_number(Bytes& out, T number) {
  put(out, std::as_bytes(std::span(&number, 1)));
}

void put_type(Bytes& out, ValueType type) { put_number(out, std::to_underlying(type)); }

void put_text(Bytes& out, std::string_view text) {
  put_number(out, uint64_t{text.size()});
  put(out, std::as_bytes(std::span(text)));
}

void put_array(Bytes& out, const Array& array) {
  put_type(out, array.element_type());
  put_number(out, uint64_t{array.size()});
  put(out, array.bytes());
  for (const std::string_view text : array.strings()) put_text(out, text);
  for (const Array& inner : array.arrays()) put_array(out, inner);
}

// A number of a fixed-size type, as wide as that type.
void put_scalar(Bytes& out, const Value& value) {
  if (const auto flag = value.as_bool()) return put_number(out, *flag);
  if (const auto real = value.as_float()) {
    if (value.type() == ValueType::f64) return put_number(out, *real);
    return put_number(out, static_cast<float>(*real));
  }
  // Little-endian: the first bytes of the widest form are the narrow form.
  const auto negative = value.as_int();
  const uint64_t wide = negative ? static_cast<uint64_t>(*negative) : *value.as_uint();
  put(out, std::as_bytes(std::span(&wide, 1)).first(size_bytes(value.type())));
}

void pad(Bytes& out, uint64_t alignment) {
  while (out.size() % alignment != 0) out.push_back(std::byte{0});
}

uint64_t stored_bytes(DType dtype, std::span<const uint64_t> shape) {
  EVENER_ASSERT(!shape.empty());
  EVENER_ASSERT(shape.size() <= 4);
  const DTypeInfo& type = info(dtype);
  EVENER_ASSERT(shape[0] % type.block_size == 0);
  uint64_t size_bytes = type.block_bytes;
  for (const uint64_t dim : shape) {
    EVENER_ASSERT(dim > 0);
    const bool overflows = __builtin_mul_overflow(size_bytes, dim, &size_bytes);
    EVENER_ASSERT(!overflows);
  }
  return size_bytes / type.block_size;
}

}  // namespace

void Header::set(std::string_view key, std::string_view text) {
  Bytes encoded;
  put_text(encoded, text);
  set_encoded(key, ValueType::string, encoded);
}

void Header::set(std::string_view key, const Value& value) {
  Bytes encoded;
  if (const auto text = value.as_string()) {
    put_text(encoded, *text);
  } else if (const Array* array = value.as_array()) {
    put_array(encoded, *array);
  } else {
    put_scalar(encoded, value);
  }
  set_encoded(key, value.type(), encoded);
}

void Header::set_array(std::string_view key, std::span<const std::string_view> texts) {
  std::vector<std::string_view> all(texts.begin(), texts.end());
  set(key, Value(ValueType::array, Array(std::move(all))));
}

void Header::set_encoded(std::string_view key, ValueType type, std::span<const std::byte> encoded) {
  EVENER_ASSERT(!key.empty());
  Bytes value;
  put_type(value, type);
  put(value, encoded);
  const auto [at, is_added] = metadata_index_.try_emplace(std::string(key), metadata_.size());
  if (is_added) {
    metadata_.emplace_back(key, std::move(value));
  } else {
    metadata_[at->second].second = std::move(value);
  }
}

void Header::add_tensor(std::string_view name, DType dtype, std::span<const uint64_t> shape) {
  EVENER_ASSERT(!name.empty());
  const bool is_added = tensor_names_.emplace(name).second;
  EVENER_ASSERT(is_added);
  const uint64_t size_bytes = stored_bytes(dtype, shape);
  tensors_.push_back({.name = std::string(name),
                      .dtype = dtype,
                      .shape = {shape.begin(), shape.end()},
                      .data_offset = data_bytes_,
                      .size_bytes = size_bytes});
  data_bytes_ += (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<std::byte> Header::encode() const {
  Bytes out;
  put(out, std::as_bytes(std::span(std::string_view("GGUF"))));
  put_number(out, uint32_t{3});
  put_number(out, uint64_t{tensors_.size()});
  put_number(out, uint64_t{metadata_.size()});
  for (const auto& [key, value] : metadata_) {
    put_text(out, key);
    put(out, value);
  }
  for (const TensorEntry& tensor : tensors_) {
    put_text(out, tensor.name);
    put_number(out, static_cast<uint32_t>(tensor.shape.size()));
    for (const uint64_t dim : tensor.shape) put_number(out, dim);
    put_number(out, std::to_underlying(tensor.dtype));
    put_number(out, tensor.data_offset);
  }
  pad(out, kAlignment);
  return out;
}

}  // namespace evener::gguf
