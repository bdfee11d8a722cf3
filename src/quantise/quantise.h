#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "gguf/file.h"
#include "quantise/importance.h"
#include "quantise/recipe.h"

namespace evener::quantise {

// What becomes of one tensor.
struct TensorPlan {
  const gguf::Tensor* tensor = nullptr;  // of the input
  DType dtype = DType::F32;              // in the output; the tensor's own: bytes are copied
  std::span<const float> importance;     // [experts, inputs], or empty

  bool is_copy() const;
  uint64_t output_bytes() const;
};

// What becomes of a file. The input and the importance must outlive it.
struct Plan {
  const gguf::File* input = nullptr;
  const Recipe* recipe = nullptr;
  const Importance* importance = nullptr;  // null: all weights of a row count alike
  std::vector<TensorPlan> tensors;         // in the input's order

  uint64_t output_bytes() const;
};

// Nothing is written, and no weight is read. Errors: unsupported (a type that cannot be decoded),
// invalid_argument (an importance matrix of other shapes, or one that knows none of the matrices).
Result<Plan> make_plan(const gguf::File& input, const Recipe& recipe, const Importance* importance);

// `done` of `total` weights. Returning false ends the work with Code::cancelled.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;

// Writes the file. It appears under its name when it is complete; until then an older one stays.
// Metadata is the input's, but for the file type and what tells of the importance matrix. The bytes
// depend on neither the number of threads nor the machine. Errors: those of gguf::Writer and of
// gguf::File::read; corrupt (a weight that is no finite number, or that F16 cannot hold), naming
// the tensor.
Status write(const Plan& plan, const std::filesystem::path& path, ThreadPool& pool,
             const Progress& progress);

}  // namespace evener::quantise
