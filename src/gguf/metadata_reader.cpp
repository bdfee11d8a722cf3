#include "gguf/metadata_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/text.h"

namespace evener::gguf {
namespace {

constexpr uint64_t kKeyBytesMax = 65535;  // the format's own limit
constexpr uint64_t kStringBytesMin = 8;   // the length of an empty one
constexpr uint64_t kArrayBytesMin = 4 + 8;

// Reads values; counts array elements over the whole file.
class ValueReader {
 public:
  ValueReader(Cursor& cursor, const Limits& limits)
      : cursor_(cursor), limits_(limits), elements_left_(limits.array_elements) {}

  Result<Value> read();

 private:
  Result<ValueType> read_type(std::string_view field);
  Result<Array> read_array(int depth);
  Result<Array> read_fixed(ValueType type);
  Result<Array> read_strings();
  Result<Array> read_arrays(int depth);
  Result<uint64_t> read_length(uint64_t element_bytes_min);
  Status check_booleans(std::span<const std::byte> bytes, size_t offset) const;

  Cursor& cursor_;
  const Limits& limits_;
  uint64_t elements_left_;
};

Result<Value> ValueReader::read() {
  ASSIGN_OR_RETURN(const ValueType type, read_type("value type"));
  if (type == ValueType::string) {
    ASSIGN_OR_RETURN(const auto text, cursor_.read_string(limits_.string_bytes, "string"));
    return Value(type, text);
  }
  if (type == ValueType::array) {
    ASSIGN_OR_RETURN(auto array, read_array(1));
    return Value(type, std::move(array));
  }
  const size_t start = cursor_.offset();
  ASSIGN_OR_RETURN(const auto bytes, cursor_.take(size_bytes(type), "value"));
  if (type == ValueType::boolean) RETURN_IF_ERROR(check_booleans(bytes, start));
  return Value::decode(type, bytes.data());
}

Result<ValueType> ValueReader::read_type(std::string_view field) {
  const size_t start = cursor_.offset();
  ASSIGN_OR_RETURN(const auto id, cursor_.read<uint32_t>(field));
  const auto type = value_type_from_id(id);
  if (!type) {
    return cursor_.error(Code::corrupt, start,
                         fmt::format("{} is {}, at most 12 exists", field, id),
                         std::string(kFetchAgain));
  }
  return *type;
}

Result<Array> ValueReader::read_array(int depth) {
  if (depth > limits_.array_depth) {
    return cursor_.error(Code::limit_exceeded, cursor_.offset(),
                         fmt::format("arrays are nested more than {} deep", limits_.array_depth));
  }
  ASSIGN_OR_RETURN(const ValueType type, read_type("element type"));
  if (type == ValueType::string) return read_strings();
  if (type == ValueType::array) return read_arrays(depth);
  return read_fixed(type);
}

Result<Array> ValueReader::read_fixed(ValueType type) {
  ASSIGN_OR_RETURN(const auto length, read_length(size_bytes(type)));
  const size_t start = cursor_.offset();
  ASSIGN_OR_RETURN(const auto bytes, cursor_.take(length * size_bytes(type), "array"));
  if (type == ValueType::boolean) RETURN_IF_ERROR(check_booleans(bytes, start));
  return Array(type, bytes);
}

Result<Array> ValueReader::read_strings() {
  ASSIGN_OR_RETURN(const auto length, read_length(kStringBytesMin));
  std::vector<std::string_view> strings;
  strings.reserve(length);
  for (uint64_t i = 0; i < length; ++i) {
    ASSIGN_OR_RETURN(const auto text, cursor_.read_string(limits_.string_bytes, "array string"));
    strings.push_back(text);
  }
  return Array(std::move(strings));
}

Result<Array> ValueReader::read_arrays(int depth) {
  ASSIGN_OR_RETURN(const auto length, read_length(kArrayBytesMin));
  std::vector<Array> arrays;
  arrays.reserve(length);
  for (uint64_t i = 0; i < length; ++i) {
    ASSIGN_OR_RETURN(auto array, read_array(depth + 1));
    arrays.push_back(std::move(array));
  }
  return Array(std::move(arrays));
}

Result<uint64_t> ValueReader::read_length(uint64_t element_bytes_min) {
  ASSIGN_OR_RETURN(const auto length,
                   cursor_.read_count(element_bytes_min, elements_left_, "array length"));
  elements_left_ -= length;
  return length;
}

Status ValueReader::check_booleans(std::span<const std::byte> bytes, size_t offset) const {
  for (const std::byte byte : bytes) {
    if (std::to_integer<int>(byte) > 1) {
      return cursor_.error(
          Code::corrupt, offset,
          fmt::format("bool is {}, only 0 and 1 are allowed", std::to_integer<int>(byte)),
          std::string(kFetchAgain));
    }
    ++offset;
  }
  return {};
}

Result<std::string_view> read_key(Cursor& cursor, uint64_t index) {
  cursor.set_item(fmt::format("metadata entry {}", index));
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(const auto key, cursor.read_string(kKeyBytesMax, "key"));
  if (key.empty()) {
    return cursor.error(Code::corrupt, start, "key is empty", std::string(kFetchAgain));
  }
  return key;
}

Status check_unique(const Metadata& metadata, std::span<const size_t> offsets, Cursor& cursor) {
  const auto& order = metadata.by_key;
  for (size_t i = 1; i < order.size(); ++i) {
    const std::string_view key = metadata.entries[order[i]].key;
    if (metadata.entries[order[i - 1]].key != key) continue;
    cursor.set_item(fmt::format("key '{}'", printable(key)));
    return cursor.error(Code::corrupt, offsets[order[i]],
                        fmt::format("key occurs twice, first at offset {}", offsets[order[i - 1]]));
  }
  return {};
}

}  // namespace

Result<Metadata> read_metadata(Cursor& cursor, uint64_t count, const Limits& limits) {
  Metadata metadata;
  metadata.entries.reserve(count);
  std::vector<size_t> offsets;
  ValueReader values(cursor, limits);
  for (uint64_t i = 0; i < count; ++i) {
    offsets.push_back(cursor.offset());
    ASSIGN_OR_RETURN(const auto key, read_key(cursor, i));
    cursor.set_item(fmt::format("key '{}'", printable(key)));
    ASSIGN_OR_RETURN(auto value, values.read());
    metadata.entries.push_back({.key = key, .value = std::move(value)});
  }
  metadata.by_key.resize(count);
  std::iota(metadata.by_key.begin(), metadata.by_key.end(), size_t{0});
  // By position too, so that of two equal keys the later one in the file comes second.
  std::ranges::sort(metadata.by_key, {},
                    [&](size_t i) { return std::pair(metadata.entries[i].key, i); });
  RETURN_IF_ERROR(check_unique(metadata, offsets, cursor));
  cursor.set_item({});
  return metadata;
}

const Value* find(std::span<const MetadataEntry> entries, std::span<const size_t> by_key,
                  std::string_view key) {
  const auto at =
      std::ranges::lower_bound(by_key, key, {}, [&](size_t i) { return entries[i].key; });
  if (at == by_key.end() || entries[*at].key != key) return nullptr;
  return &entries[*at].value;
}

}  // namespace evener::gguf
