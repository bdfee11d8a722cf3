#include "cache/entry_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <cstring>
#include <utility>

namespace evener::cache {
namespace {

constexpr std::string_view kMagic = "EVENERKV";
constexpr uint32_t kVersion = 1;
constexpr std::string_view kExtension = ".evkv";
constexpr std::string_view kUnfinished = ".evkv.part";
constexpr size_t kDigits = 16;  // of 64 bits

constexpr size_t kVersionAt = 8;
constexpr size_t kKindAt = 12;
constexpr size_t kModelAt = 16;
constexpr size_t kKeyAt = 32;
constexpr size_t kPayloadBytesAt = 48;
constexpr size_t kPayloadChecksumAt = 56;
constexpr size_t kHeaderChecksumAt = 64;

template <class T>
void store(std::span<std::byte> bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T load(std::span<const std::byte> bytes, size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Error refused(Code code, const std::string& name, std::string why) {
  return {.code = code,
          .doing = "read cache entry",
          .where = name,
          .why = std::move(why),
          .remedy = {}};
}

std::optional<uint64_t> parse_hex(std::string_view digits) {
  uint64_t value = 0;
  for (const char digit : digits) {
    if (digit >= 'A' && digit <= 'F') return std::nullopt;  // one name an entry
  }
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
  if (error != std::errc{} || end != digits.end()) return std::nullopt;
  return value;
}

std::optional<EntryId> parse_name(std::string_view name, std::string_view ending) {
  if (name.size() != 2 * kDigits + ending.size() || !name.ends_with(ending)) return std::nullopt;
  const auto high = parse_hex(name.substr(0, kDigits));
  const auto low = parse_hex(name.substr(kDigits, kDigits));
  if (!high || !low) return std::nullopt;
  return EntryId{.high = *high, .low = *low};
}

std::string make_name(const EntryId& id, std::string_view ending) {
  return fmt::format("{:016x}{:016x}{}", id.high, id.low, ending);
}

// The kinds' numbers in files.
uint32_t kind_number(EntryKey::Kind kind) { return kind == EntryKey::Kind::page ? 1 : 2; }

}  // namespace

ModelId model_id(std::string_view identity) {
  const XXH128_hash_t hash = XXH3_128bits(identity.data(), identity.size());
  return {.high = hash.high64, .low = hash.low64};
}

EntryId entry_id(const ModelId& model, const EntryKey& key) {
  const uint64_t all[] = {model.high, model.low, key.high, key.low, kind_number(key.kind)};
  const XXH128_hash_t hash = XXH3_128bits(all, sizeof all);
  return {.high = hash.high64, .low = hash.low64};
}

std::string entry_file_name(const EntryId& id) { return make_name(id, kExtension); }
std::string unfinished_file_name(const EntryId& id) { return make_name(id, kUnfinished); }

std::optional<EntryId> id_of_entry_file(std::string_view name) {
  return parse_name(name, kExtension);
}
std::optional<EntryId> id_of_unfinished_file(std::string_view name) {
  return parse_name(name, kUnfinished);
}

uint64_t payload_checksum(std::span<const std::byte> payload) {
  return XXH3_64bits(payload.data(), payload.size());
}

std::array<std::byte, kEntryHeaderBytes> encode(const EntryHeader& header) {
  std::array<std::byte, kEntryHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store(bytes, kVersionAt, kVersion);
  store(bytes, kKindAt, kind_number(header.key.kind));
  store(bytes, kModelAt, header.model.high);
  store(bytes, kModelAt + 8, header.model.low);
  store(bytes, kKeyAt, header.key.high);
  store(bytes, kKeyAt + 8, header.key.low);
  store(bytes, kPayloadBytesAt, header.payload_bytes);
  store(bytes, kPayloadChecksumAt, header.payload_checksum);
  store(bytes, kHeaderChecksumAt, uint64_t{XXH3_64bits(bytes.data(), kHeaderChecksumAt)});
  return bytes;
}

Result<EntryHeader> parse_entry_header(std::span<const std::byte> bytes, uint64_t file_bytes,
                                       const std::string& name) {
  if (bytes.size() < kMagic.size() ||
      std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return refused(Code::invalid_argument, name, "is no cache entry");
  }
  if (bytes.size() < kKindAt) return refused(Code::corrupt, name, "ends within its header");
  const auto version = load<uint32_t>(bytes, kVersionAt);
  if (version != kVersion) {
    return refused(Code::unsupported, name, fmt::format("has version {}", version));
  }
  if (bytes.size() < kEntryHeaderBytes) {
    return refused(Code::corrupt, name, "ends within its header");
  }
  if (load<uint64_t>(bytes, kHeaderChecksumAt) != XXH3_64bits(bytes.data(), kHeaderChecksumAt)) {
    return refused(Code::corrupt, name, "its header's checksum differs");
  }
  const auto kind = load<uint32_t>(bytes, kKindAt);
  if (kind != 1 && kind != 2) {
    return refused(Code::corrupt, name, fmt::format("is of kind {}", kind));
  }
  const auto payload_bytes = load<uint64_t>(bytes, kPayloadBytesAt);
  if (payload_bytes > kEntryPayloadBytesMax) {
    return refused(Code::corrupt, name,
                   fmt::format("claims {} bytes, more than the {} that are allowed", payload_bytes,
                               kEntryPayloadBytesMax));
  }
  if (payload_bytes + kEntryHeaderBytes != file_bytes) {
    return refused(
        Code::corrupt, name,
        fmt::format("has {} bytes instead of {}", file_bytes, payload_bytes + kEntryHeaderBytes));
  }
  return EntryHeader{
      .model = {load<uint64_t>(bytes, kModelAt), load<uint64_t>(bytes, kModelAt + 8)},
      .key = {.high = load<uint64_t>(bytes, kKeyAt),
              .low = load<uint64_t>(bytes, kKeyAt + 8),
              .kind = kind == 1 ? EntryKey::Kind::page : EntryKey::Kind::state},
      .payload_bytes = payload_bytes,
      .payload_checksum = load<uint64_t>(bytes, kPayloadChecksumAt)};
}

Status check_payload(const EntryHeader& header, std::span<const std::byte> payload,
                     const std::string& name) {
  if (payload.size() == header.payload_bytes &&
      payload_checksum(payload) == header.payload_checksum) {
    return {};
  }
  return refused(Code::corrupt, name, "its checksum differs");
}

}  // namespace evener::cache
