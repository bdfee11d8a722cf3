#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/cursor.h"
#include "gguf/limits.h"
#include "gguf/metadata_entry.h"

namespace evener::gguf {

struct Metadata {
  std::vector<MetadataEntry> entries;  // in file order
  std::vector<size_t> by_key;          // positions in `entries`, ordered by key
};

// Reads `count` entries at the cursor. A count was read with read_count(kMetadataEntryBytesMin,
// ...).
Result<Metadata> read_metadata(Cursor& cursor, uint64_t count, const Limits& limits);

// A key of one byte with a value of one byte.
inline constexpr uint64_t kMetadataEntryBytesMin = 8 + 1 + 4 + 1;

// The value of `key`, or null.
const Value* find(std::span<const MetadataEntry> entries, std::span<const size_t> by_key,
                  std::string_view key);

}  // namespace evener::gguf
