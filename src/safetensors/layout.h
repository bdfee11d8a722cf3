#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "safetensors/folder.h"
#include "safetensors/quant_config.h"
#include "tensor/dtype.h"

namespace evener::safetensors {

// A weight matrix that a folder stores in codes and scales, over several tensors. Shapes and types
// of all of them agree. Immutable; safe from any thread; the Folder must outlive it.
class CodedMatrix {
 public:
  virtual ~CodedMatrix() = default;
  CodedMatrix(const CodedMatrix&) = delete;
  CodedMatrix& operator=(const CodedMatrix&) = delete;

  size_t outputs() const { return outputs_; }
  size_t inputs() const { return inputs_; }
  // All tensors that belong to it, the codes first.
  std::span<const Tensor* const> parts() const { return parts_; }

  // Reads all scales and indices: until this has passed, decode() must not be called. Errors:
  // corrupt (a scale that is no number, an index outside its groups), naming tensor and file.
  virtual Status check_values() const = 0;

  // Outputs [begin, begin + count) as f32 [count, inputs].
  virtual void decode(size_t begin, size_t count, float* values) const = 0;

  // The block format that has the very codes and scales of this matrix, if there is one. Q4_0 gives
  // the decoded weights to the bit; Q4_1 has zero point times scale as a half of its own, which
  // rounds it like a weight that is stored as F16. Only once check_values() has passed.
  virtual std::optional<DType> block_format() const { return std::nullopt; }
  // Outputs [begin, begin + count) in `format`, which block_format() gave, row after row.
  virtual void repack(DType format, size_t begin, size_t count, std::byte* blocks) const;

 protected:
  CodedMatrix(size_t outputs, size_t inputs, std::vector<const Tensor*> parts)
      : outputs_(outputs), inputs_(inputs), parts_(std::move(parts)) {}

 private:
  size_t outputs_;
  size_t inputs_;
  std::vector<const Tensor*> parts_;
};

// One way of storing matrices. A layout is one file of this folder and one line in layout.cpp.
struct Layout {
  QuantConfig::Method method;
  std::string_view codes;  // suffix of the tensor that shows it: ".qweight"
  // `codes` was found. Errors: corrupt, unsupported, naming tensor and file.
  Result<std::unique_ptr<CodedMatrix>> (*open)(const Folder& folder, std::string_view stem,
                                               const Tensor& codes, const QuantConfig& config);
};

// The matrix called `stem` ("model.layers.0.mlp.up_proj"), or null if the folder stores it as plain
// numbers or not at all. Shapes are checked, values are not: see check_values().
Result<std::unique_ptr<CodedMatrix>> open_coded(const Folder& folder, std::string_view stem,
                                                const QuantConfig& config);

}  // namespace evener::safetensors
