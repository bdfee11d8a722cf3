#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace evener::quantise {

// How much each input of each matrix of a model matters: the mean square of what came in while some
// text was read. llama.cpp's `llama-imatrix` collects it; its file is GGUF or the older .dat:
//
//     GGUF  general.type "imatrix"; for each matrix NAME.in_sum2 f32 [experts, inputs], sums of
//           squares, and NAME.counts f32 [experts, 1], of how many rows
//     .dat  int32 entries; for each: text NAME, int32 calls, int32 count, f32[count] means of
//           squares times calls; then, of newer ones, int32 chunks and text data set. A text is
//           int32 length and that many bytes
//
// Errors of open and parse: those of MappedFile and gguf::File; corrupt; each names the file and
// the entry. Judges: tests/quantise/importance_test.cpp, tests/fuzz/imatrix_fuzz.cpp.
class Importance {
 public:
  static Result<Importance> open(const std::filesystem::path& path);
  // `name` stands for the file in errors.
  static Result<Importance> parse(std::span<const std::byte> bytes, const std::string& name);

  // [experts, inputs] of the matrix "blk.0.attn_q.weight", finite and not negative; empty if
  // nothing is known of it. An expert that nothing came to has zeros.
  std::span<const float> find(std::string_view tensor) const;

  size_t size() const { return values_.size(); }
  const std::string& name() const { return name_; }
  const std::string& dataset() const { return dataset_; }  // empty if the file does not say
  uint32_t num_chunks() const { return num_chunks_; }      // of text; 0 likewise

 private:
  explicit Importance(std::string name) : name_(std::move(name)) {}
  Status read_dat(std::span<const std::byte> bytes);
  Status read_gguf(std::span<const std::byte> bytes);
  Status add(std::string_view tensor, std::vector<float> values);
  Error corrupt(std::string_view tensor, std::string why) const;

  std::string name_;
  std::string dataset_;
  uint32_t num_chunks_ = 0;
  std::map<std::string, std::vector<float>, std::less<>> values_;
};

}  // namespace evener::quantise
