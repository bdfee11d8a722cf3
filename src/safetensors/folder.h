#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "safetensors/limits.h"
#include "safetensors/tensor.h"

namespace evener::safetensors {

// The weights of a model folder, mapped and checked: model.safetensors, or the shards that
// model.safetensors.index.json names. Names are unique over all shards, and index and shards hold
// the same tensors. What config.json says is not looked at here.
//
// Immutable, so every member may be called from any thread. Movable; views, spans and pointers that
// it hands out stay valid when it is moved and die with it.
//
// Errors of open: those of read_header and MappedFile; not_found (no weights, a missing shard);
// corrupt (an index that does not fit its shards, or that names a file outside the folder).
// Judges: tests/safetensors/folder_test.cpp, tests/fuzz/safetensors_fuzz.cpp.
class Folder {
 public:
  static Result<Folder> open(const std::filesystem::path& path, const Limits& limits = {});

  // Tensors file after file, in the order of their bytes.
  std::span<const Tensor> tensors() const { return tensors_; }
  const Tensor* find(std::string_view name) const;  // null if there is none

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return name_; }  // the folder, as in errors
  uint64_t size_bytes() const;                       // of all files together
  std::span<const MappedFile> mappings() const { return mappings_; }

  // Error (code corrupt) about what a tensor holds, for those who check its meaning.
  Error tensor_error(const Tensor& tensor, std::string why, std::string remedy = {}) const;

 private:
  explicit Folder(const std::filesystem::path& path) : path_(path), name_(path.string()) {}
  Status add_file(const std::string& file, const Limits& limits);
  Status add_shards(const json::Value& index, const std::string& index_name, const Limits& limits);
  Status sort_names();
  Status check_index(const json::Value& weight_map, const std::string& index_name) const;

  std::filesystem::path path_;
  std::string name_;
  std::vector<MappedFile> mappings_;
  std::vector<Tensor> tensors_;
  std::vector<size_t> by_name_;  // searched by halving, so no crafted names can slow it
};

}  // namespace evener::safetensors
