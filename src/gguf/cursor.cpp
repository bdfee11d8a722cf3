#include "gguf/cursor.h"

#include <fmt/format.h>

namespace evener::gguf {

Result<std::span<const std::byte>> Cursor::take(uint64_t size, std::string_view field) {
  if (size > remaining()) {
    return error(
        Code::corrupt, offset_,
        fmt::format("{} needs {} bytes, {} are left in the file", field, size, remaining()),
        std::string(kFetchAgain));
  }
  const auto taken = bytes_.subspan(offset_, size);
  offset_ += size;
  return taken;
}

Result<std::string_view> Cursor::read_string(uint64_t length_max, std::string_view field) {
  const size_t start = offset_;
  ASSIGN_OR_RETURN(const auto length, read<uint64_t>(field));
  if (length <= remaining() && length > length_max) {
    return error(Code::limit_exceeded, start,
                 fmt::format("{} has {} bytes, at most {} are allowed", field, length, length_max));
  }
  ASSIGN_OR_RETURN(const auto bytes, take(length, field));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<uint64_t> Cursor::read_count(uint64_t item_bytes_min, uint64_t count_max,
                                    std::string_view field) {
  const size_t start = offset_;
  ASSIGN_OR_RETURN(const auto count, read<uint64_t>(field));
  if (count > remaining() / item_bytes_min) {
    return error(Code::corrupt, start,
                 fmt::format("{} is {}, the {} bytes left in the file hold at most {}", field,
                             count, remaining(), remaining() / item_bytes_min),
                 std::string(kFetchAgain));
  }
  if (count > count_max) {
    return error(Code::limit_exceeded, start,
                 fmt::format("{} is {}, at most {} is allowed", field, count, count_max));
  }
  return count;
}

Error Cursor::error(Code code, uint64_t offset, std::string why, std::string remedy) const {
  const std::string item = item_.empty() ? std::string() : ", " + item_;
  return {.code = code,
          .doing = "load model",
          .where = fmt::format("{}{}, offset {}", file_, item, offset),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

}  // namespace evener::gguf
