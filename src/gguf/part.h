#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "gguf/limits.h"
#include "gguf/metadata_entry.h"
#include "gguf/tensor.h"

namespace evener::gguf {

// What one file holds: a whole model or one part of a split one. Views point into the file's bytes.
struct Part {
  std::string name;                 // for errors
  std::vector<MappedFile> mapping;  // one, or none for bytes that somebody else keeps
  uint64_t size_bytes = 0;
  uint32_t version = 0;
  uint64_t alignment = 0;
  std::vector<MetadataEntry> metadata;  // in file order
  std::vector<size_t> metadata_by_key;  // positions in `metadata`, ordered by key
  std::vector<Tensor> tensors;          // in file order

  const Value* find(std::string_view key) const;
};

// Reads and checks one file; everything but what concerns other parts. `bytes` must outlive the
// Part.
Result<Part> read_part(std::span<const std::byte> bytes, std::string_view name,
                       const Limits& limits);

}  // namespace evener::gguf
