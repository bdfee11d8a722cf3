#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/entry_key.h"

namespace evener::cache {

// A file of the disk tier: one entry. Numbers are little endian.
//
//     offset  bytes
//          0      8  magic "EVENERKV"
//          8      4  version, 1; another one may mean any layout behind it
//         12      4  kind: 1 page, 2 state
//         16     16  model, as model_id() gives it
//         32     16  key
//         48      8  payload bytes: all that is behind the header
//         56      8  XXH3 of the payload
//         64      8  XXH3 of the header up to here
//         72         payload
//
// A checksum finds damage, not intent: whoever may write into the folder can make entries that say
// anything, but none that leads outside its own bytes. Judges: tests/cache/entry_file_test.cpp,
// tests/fuzz/cache_entry_fuzz.cpp.
inline constexpr size_t kEntryHeaderBytes = 72;

// Larger ones are neither written nor read.
inline constexpr uint64_t kEntryPayloadBytesMax = uint64_t{4} << 30;

// What an entry's bytes depend on besides its key.
struct ModelId {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const ModelId&) const = default;
};

// `identity` is any text that differs where bytes would not mean the same: the model file's
// checksum, page size, type and layout of the cache, rank.
ModelId model_id(std::string_view identity);

// An entry of a model: its file's name, and what the disk tier knows it by.
struct EntryId {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const EntryId&) const = default;
};

EntryId entry_id(const ModelId& model, const EntryKey& key);

std::string entry_file_name(const EntryId& id);       // 32 digits and ".evkv"
std::string unfinished_file_name(const EntryId& id);  // while it is written: ".part" behind
// Of a name that the functions above give, or nothing.
std::optional<EntryId> id_of_entry_file(std::string_view name);
std::optional<EntryId> id_of_unfinished_file(std::string_view name);

struct EntryHeader {
  ModelId model;
  EntryKey key;
  uint64_t payload_bytes = 0;
  uint64_t payload_checksum = 0;
  bool operator==(const EntryHeader&) const = default;
};

uint64_t payload_checksum(std::span<const std::byte> payload);

std::array<std::byte, kEntryHeaderBytes> encode(const EntryHeader& header);

// The header of a file of `file_bytes` bytes from its first ones, of which up to kEntryHeaderBytes
// are looked at. Errors: invalid_argument (no entry at all), unsupported (another version),
// corrupt. `name` stands for the file in them.
Result<EntryHeader> parse_entry_header(std::span<const std::byte> bytes, uint64_t file_bytes,
                                       const std::string& name);

// Error: corrupt, if the payload is not the one that was written.
Status check_payload(const EntryHeader& header, std::span<const std::byte> payload,
                     const std::string& name);

}  // namespace evener::cache

template <>
struct std::hash<evener::cache::EntryId> {
  size_t operator()(const evener::cache::EntryId& id) const noexcept {
    return static_cast<size_t>(id.low);
  }
};
