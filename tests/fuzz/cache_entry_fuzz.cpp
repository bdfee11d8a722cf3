// Any bytes as a file of the disk tier, as they are and with checksums made right: it is refused,
// or its header says what its bytes say and its payload is the rest of them. Seeds:
// tests/data/fuzz/cache_entry.
#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "cache/entry_file.h"

namespace evener::cache {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kPayloadChecksumAt = 56;
constexpr size_t kHeaderChecksumAt = 64;

// Looks at the first bytes alone, as the folder does, and at all of them.
Result<EntryHeader> read_header(std::span<const std::byte> bytes) {
  const auto header = parse_entry_header(bytes, bytes.size(), "fuzz");
  const size_t first = std::min(bytes.size(), kEntryHeaderBytes);
  const auto same = parse_entry_header(bytes.first(first), bytes.size(), "fuzz");
  EVENER_ASSERT(header.has_value() == same.has_value());
  return header;
}

bool accepts(std::span<const std::byte> bytes) {
  const auto header = read_header(bytes);
  if (!header) {
    EVENER_ASSERT(!header.error().why.empty());
    return false;
  }
  EVENER_ASSERT(std::ranges::equal(encode(*header), bytes.first(kEntryHeaderBytes)));
  const auto payload = bytes.subspan(kEntryHeaderBytes);
  EVENER_ASSERT(payload.size() == header->payload_bytes);
  const EntryId id = entry_id(header->model, header->key);
  EVENER_ASSERT(id_of_entry_file(entry_file_name(id)) == id);
  return check_payload(*header, payload, "fuzz").has_value();
}

void store(Bytes& bytes, size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void try_with_checksums(Bytes bytes) {
  if (bytes.size() < kEntryHeaderBytes) return;
  const auto payload = std::span(bytes).subspan(kEntryHeaderBytes);
  store(bytes, kPayloadChecksumAt, payload_checksum(payload));
  store(bytes, kHeaderChecksumAt, XXH3_64bits(bytes.data(), kHeaderChecksumAt));
  if (!read_header(bytes)) return;
  EVENER_ASSERT(accepts(bytes));
  if (payload.empty()) return;
  bytes.back() ^= std::byte{1};
  EVENER_ASSERT(!accepts(bytes));
}

}  // namespace
}  // namespace evener::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace evener::cache;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)accepts(bytes);
  try_with_checksums(Bytes(bytes.begin(), bytes.end()));
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  if (const auto id = id_of_entry_file(name)) EVENER_ASSERT(entry_file_name(*id) == name);
  if (const auto id = id_of_unfinished_file(name)) EVENER_ASSERT(unfinished_file_name(*id) == name);
  return 0;
}
