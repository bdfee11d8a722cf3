#include "gguf/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "gguf/cursor.h"
#include "gguf/metadata_reader.h"
#include "gguf/recognise.h"
#include "gguf/tensor_reader.h"

namespace evener::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kAlignmentDefault = 32;
constexpr uint64_t kAlignmentMax = uint64_t{1} << 30;

bool has_magic(std::span<const std::byte> bytes) {
  const auto head = bytes.first(std::min(bytes.size(), kMagic.size()));
  return std::string_view(reinterpret_cast<const char*>(head.data()), head.size()) == kMagic;
}

Result<uint32_t> read_version(Cursor& cursor) {
  RETURN_IF_ERROR(cursor.take(kMagic.size(), "magic"));
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(const auto version, cursor.read<uint32_t>("version"));
  if (version == 2 || version == 3) return version;
  if (version == 1) {
    return cursor.error(Code::unsupported, start, "is GGUF version 1, only 2 and 3 are read",
                        "convert the model again, or fetch a later GGUF of it");
  }
  const uint32_t swapped = std::byteswap(version);
  if (swapped >= 1 && swapped <= 3) {
    return cursor.error(Code::unsupported, start, "is a big-endian GGUF file",
                        "fetch or make the little-endian one");
  }
  return cursor.error(Code::unsupported, start,
                      fmt::format("is GGUF version {}, only 2 and 3 are read", version),
                      "the file may be made for a later version, or be damaged");
}

Result<uint64_t> alignment_of(const Part& part) {
  const Value* value = part.find("general.alignment");
  if (value == nullptr) return kAlignmentDefault;
  const auto alignment = value->as_uint();
  const bool allowed = alignment && std::has_single_bit(*alignment) && *alignment >= 8 &&
                       *alignment <= kAlignmentMax;
  if (allowed) return *alignment;
  const std::string shown =
      alignment ? std::to_string(*alignment) : fmt::format("of type {}", gguf::name(value->type()));
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = fmt::format("{}, key 'general.alignment'", part.name),
               .why = fmt::format("is {}, only powers of two from 8 to {} are allowed", shown,
                                  kAlignmentMax),
               .remedy = std::string(kFetchAgain)};
}

}  // namespace

const Value* Part::find(std::string_view key) const {
  return gguf::find(metadata, metadata_by_key, key);
}

Result<Part> read_part(std::span<const std::byte> bytes, std::string_view name,
                       const Limits& limits) {
  if (!has_magic(bytes)) return not_gguf_error(bytes, name);
  Cursor cursor(bytes, name);
  Part part;
  part.name = name;
  part.size_bytes = bytes.size();
  ASSIGN_OR_RETURN(part.version, read_version(cursor));
  ASSIGN_OR_RETURN(const auto num_tensors,
                   cursor.read_count(kTensorBytesMin, limits.tensors, "tensor count"));
  ASSIGN_OR_RETURN(
      const auto num_entries,
      cursor.read_count(kMetadataEntryBytesMin, limits.metadata_entries, "metadata count"));
  ASSIGN_OR_RETURN(auto metadata, read_metadata(cursor, num_entries, limits));
  part.metadata = std::move(metadata.entries);
  part.metadata_by_key = std::move(metadata.by_key);
  ASSIGN_OR_RETURN(part.alignment, alignment_of(part));
  ASSIGN_OR_RETURN(part.tensors, read_tensors(cursor, num_tensors, part.alignment, bytes));
  return part;
}

}  // namespace evener::gguf
