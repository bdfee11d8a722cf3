#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "gguf/header.h"

namespace evener::gguf {

// Writes a GGUF file of any size piece by piece. The bytes go to a temporary file in the same
// folder; finish() puts it in place in one step, so that nobody ever sees half a file, and an
// existing file stays as it was until then. A Writer that dies unfinished removes its temporary
// file.
//
//   ASSIGN_OR_RETURN(auto writer, Writer::create(path, header));
//   for (...) RETURN_IF_ERROR(writer.write(rows));
//   RETURN_IF_ERROR(writer.finish());
//
// Errors: not_found, permission_denied, unavailable (the system's words: no space left, ...). One
// thread.
//
// Judge: tests/gguf/writer_test.cpp.
class Writer {
 public:
  // Creates the temporary file and writes the header.
  static Result<Writer> create(const std::filesystem::path& path, const Header& header);

  // Data of the header's tensors, one after the other, in pieces of any size that do not cross from
  // one tensor to the next. Padding between tensors is written by itself. More bytes than the
  // header announced are the caller's bug and abort.
  Status write(std::span<const std::byte> piece);

  // Flushes to disk and moves the file in place. All tensors must be complete.
  Status finish();

  Writer(Writer&& other) noexcept;
  Writer& operator=(Writer&& other) noexcept;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

 private:
  Writer() = default;
  Status put(std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::filesystem::path temporary_path_;
  int file_ = -1;                       // -1 after finish() and when moved from
  std::vector<uint64_t> tensor_bytes_;  // sizes in order
  size_t tensor_index_ = 0;             // the tensor that takes the next piece
  uint64_t tensor_written_ = 0;         // bytes of it that are written
};

}  // namespace evener::gguf
