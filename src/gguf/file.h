#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "gguf/header.h"
#include "gguf/limits.h"
#include "gguf/metadata_entry.h"
#include "gguf/tensor.h"
#include "gguf/value.h"

namespace evener::gguf {

struct OpenOptions {
  Limits limits;
};

struct Part;

// Makes the bytes of tensors that no file holds as they are.
class TensorMaker {
 public:
  virtual ~TensorMaker() = default;

  // The bytes of a tensor whose own are empty, put into `room`: exactly its size. One thread at a
  // time. Errors: corrupt (values that cannot be), naming the tensor and its file.
  virtual Status make(const Tensor& tensor, std::vector<std::byte>& room) const = 0;

  // What the files call the tensor `name`, for messages.
  virtual std::string label(std::string_view name) const = 0;
};

// What a File is made of that no GGUF file holds.
struct Assembly {
  std::string name;                // for errors
  std::vector<std::string> files;  // at least one; Tensor::file_index counts them
  uint64_t size_bytes = 0;         // of all files together
  std::vector<Tensor> tensors;     // names are unique, shapes whole blocks and of countable size
  std::unique_ptr<TensorMaker> maker;  // owns what the tensors' bytes lie in
};

// A GGUF file of version 2 or 3, little-endian, or all parts of a split one
// (NAME-00001-of-00003.gguf), mapped and checked: every tensor's bytes lie inside its file and
// overlap no other's, names and keys are unique. What the metadata says about the model (sizes that
// agree, a known family) is not checked here.
//
// The same view is given of a model that lies in other files, such as a Hugging Face folder: what a
// GGUF file of it would say, with the bytes of tensors made where they are stored otherwise.
//
// Immutable, so every member but read() may be called from any thread. Movable; views, spans and
// pointers that it hands out stay valid when it is moved and die with it.
//
// Errors of open and parse: those of MappedFile; corrupt, with the offset and field; unsupported
// (another format, another version, big-endian); limit_exceeded. `where` starts with the file.
//
// Source: the GGUF specification of ggml. Judge: tests/gguf/file_test.cpp,
// tests/fuzz/gguf_fuzz.cpp.
class File {
 public:
  // Opens a file. Any part of a split file opens all of them: metadata is the first part's, tensors
  // of all parts are joined. A missing part is named.
  static Result<File> open(const std::filesystem::path& path, const OpenOptions& options = {});

  // Reads a file that lies in memory already; `bytes` must outlive the File and start at an address
  // that is a multiple of 64 if tensor bytes are to be read as numbers in place. `name` stands for
  // the path in errors. A part of a split file is an error.
  static Result<File> parse(std::span<const std::byte> bytes, std::string name,
                            const OpenOptions& options = {});

  // Shows other files as one GGUF file with the metadata of `header`, whose tensors are not looked
  // at. Error: limit_exceeded.
  static Result<File> assemble(const Header& header, Assembly assembly);

  // Metadata, in file order. Of a split file: the first part's.
  std::span<const MetadataEntry> metadata() const { return metadata_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const Value* find(std::string_view key) const;  // null if there is none

  // The value of `key`; an absent key, another kind of value or a number outside the stated range
  // is an error that names file and key. Integers of every width and sign are one kind, so are f32
  // and f64. The ..._or forms give `fallback` for an absent key; a wrong one is still an error.
  Result<uint64_t> get_uint(std::string_view key, uint64_t max = kUintMax) const;
  Result<uint64_t> get_uint_or(std::string_view key, uint64_t fallback,
                               uint64_t max = kUintMax) const;
  Result<int64_t> get_int(std::string_view key) const;
  Result<int64_t> get_int_or(std::string_view key, int64_t fallback) const;
  Result<float> get_float(std::string_view key) const;  // finite
  Result<float> get_float_or(std::string_view key, float fallback) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<bool> get_bool_or(std::string_view key, bool fallback) const;
  // Bytes as stored: whether they are UTF-8 was not checked.
  Result<std::string_view> get_string(std::string_view key) const;
  Result<std::string_view> get_string_or(std::string_view key, std::string_view fallback) const;

  // Whole arrays of one kind, as above. An empty array is no error, an absent key is: ask has().
  Result<std::span<const std::string_view>> get_strings(std::string_view key) const;
  Result<std::vector<float>> get_floats(std::string_view key) const;  // finite
  Result<std::vector<int64_t>> get_ints(std::string_view key) const;
  Result<std::vector<uint64_t>> get_uints(std::string_view key, uint64_t max = kUintMax) const;
  Result<std::vector<bool>> get_bools(std::string_view key) const;

  // Hyperparameters that files store either once for all layers or once a layer: `count` numbers.
  // An array of another length is an error.
  Result<std::vector<uint64_t>> get_uints_each(std::string_view key, size_t count,
                                               uint64_t max = kUintMax) const;

  // Tensors in file order, part after part.
  std::span<const Tensor> tensors() const { return tensors_; }
  const Tensor* find_tensor(std::string_view name) const;  // null if there is none
  Result<const Tensor*> get_tensor(std::string_view name) const;

  // The bytes of one of tensors(): its own, which live as long as the File, or else made in `room`.
  // Errors: those of TensorMaker.
  Result<std::span<const std::byte>> read(const Tensor& tensor, std::vector<std::byte>& room) const;
  // What to call the tensor of this name in messages: "'blk.0.attn_q.weight'".
  std::string label(std::string_view tensor) const;

  bool is_assembled() const { return maker_ != nullptr; }
  uint32_t version() const { return version_; }        // 2 or 3
  uint64_t alignment() const { return alignment_; }    // of tensor data in the (first) file
  uint64_t size_bytes() const { return size_bytes_; }  // of all parts together
  const std::string& name() const { return name_; }    // the (first) file, as in errors
  std::span<const std::string> names() const { return names_; }  // one a part
  // One a part, to discard() what was copied elsewhere; empty after parse() and assemble().
  std::span<const MappedFile> mappings() const { return mappings_; }

  // Errors (code corrupt) about what this file says, for those who check its meaning.
  Error key_error(std::string_view key, std::string why, std::string remedy = {}) const;
  Error tensor_error(const Tensor& tensor, std::string why, std::string remedy = {}) const;

 private:
  static constexpr uint64_t kUintMax = std::numeric_limits<uint64_t>::max();

  File() = default;
  static Result<File> join(std::vector<Part> parts);
  Status sort_tensors();
  Result<const Value*> get(std::string_view key) const;
  Result<const Array*> get_array(std::string_view key) const;
  Error type_error(std::string_view key, const Value& value, std::string_view expected) const;

  uint32_t version_ = 0;
  uint64_t alignment_ = 0;
  uint64_t size_bytes_ = 0;
  std::string name_;
  std::vector<std::string> names_;
  std::vector<MappedFile> mappings_;
  std::vector<std::byte> header_;  // of an assembled file: what its metadata lie in
  std::unique_ptr<TensorMaker> maker_;
  std::vector<MetadataEntry> metadata_;
  std::vector<Tensor> tensors_;
  // Positions ordered by key and by name: searched by halving, so no crafted names can slow it.
  std::vector<size_t> metadata_by_key_;
  std::vector<size_t> tensors_by_name_;
};

}  // namespace evener::gguf
