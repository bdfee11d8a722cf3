#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace evener::gguf {

// Bytes of a GGUF file put together field by field, so that tests can write what no writer would.
class RawFile {
 public:
  template <class T>
  RawFile& number(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  RawFile& u8(uint8_t value) { return number(value); }
  RawFile& u32(uint32_t value) { return number(value); }
  RawFile& u64(uint64_t value) { return number(value); }
  RawFile& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  RawFile& text(std::string_view text) { return u64(text.size()).raw(text); }

  RawFile& head(uint64_t num_tensors, uint64_t num_entries) {
    return raw("GGUF").u32(3).u64(num_tensors).u64(num_entries);
  }
  RawFile& key(std::string_view key, uint32_t value_type) { return text(key).u32(value_type); }
  RawFile& u32_entry(std::string_view name, uint32_t value) { return key(name, 4).u32(value); }
  RawFile& array(std::string_view name, uint32_t element_type, uint64_t count) {
    return key(name, 9).u32(element_type).u64(count);
  }
  // A matrix of `columns` x `rows`, or whatever a type number and an offset say.
  RawFile& tensor(std::string_view name, uint64_t columns, uint64_t rows, uint32_t type,
                  uint64_t data_offset) {
    return text(name).u32(2).u64(columns).u64(rows).u32(type).u64(data_offset);
  }
  // Pads to a multiple of 32, then `size` bytes of data.
  RawFile& data(size_t size) {
    bytes_.resize((bytes_.size() + 31) / 32 * 32 + size);
    return *this;
  }

  const std::string& string() const { return bytes_; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

}  // namespace evener::gguf
