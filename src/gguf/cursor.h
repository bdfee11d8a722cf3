#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::gguf {

// Reads the bytes of one file front to back. No step goes past the end: it returns an error that
// names the file, the item being read, the offset of the field and the field. One thread.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  // What the next fields belong to, for errors: "key 'general.name'"; empty for the file itself.
  void set_item(std::string item) { item_ = std::move(item); }

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  Result<std::span<const std::byte>> take(uint64_t size, std::string_view field);

  // A little-endian number at the cursor, of whatever alignment.
  template <class T>
  Result<T> read(std::string_view field) {
    ASSIGN_OR_RETURN(const auto bytes, take(sizeof(T), field));
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  // A length of 8 bytes and as many bytes of text, at most `length_max`.
  Result<std::string_view> read_string(uint64_t length_max, std::string_view field);

  // A count of 8 bytes of things that take at least `item_bytes_min` bytes each, so that what is
  // reserved for them is justified by the bytes that are left.
  Result<uint64_t> read_count(uint64_t item_bytes_min, uint64_t count_max, std::string_view field);

  // "FILE, ITEM, offset N" in front of `why`.
  Error error(Code code, uint64_t offset, std::string why, std::string remedy = {}) const;

 private:
  std::span<const std::byte> bytes_;
  std::string file_;
  std::string item_;
  size_t offset_ = 0;
};

// What helps against a file that contradicts itself or ends early.
inline constexpr std::string_view kFetchAgain = "the file is cut short or damaged: fetch it again";

}  // namespace evener::gguf
