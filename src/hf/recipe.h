#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/thread_pool.h"
#include "hf/family.h"
#include "hf/row_order.h"
#include "safetensors/folder.h"
#include "safetensors/layout.h"
#include "tensor/dtype.h"

namespace evener::hf {

// What a matrix of ours is made of: plain numbers, or codes and scales.
struct Ingredient {
  const safetensors::Tensor* tensor = nullptr;  // the numbers, or the first of the codes' tensors
  std::unique_ptr<safetensors::CodedMatrix> coded;  // null: plain numbers
};

// How the bytes of one tensor of GGUF are made from those of a folder.
struct Recipe {
  std::vector<Ingredient> ingredients;  // one, or one an expert, of equal shape and type
  uint64_t rows = 0;                    // of one ingredient
  uint64_t columns = 0;
  MatrixMoves moves;
  Change change = Change::none;
  DType dtype = DType::F32;  // of the result

  // Whether the folder has the very bytes that would be made.
  bool is_plain_copy() const;
  uint64_t size_bytes() const;
};

// Makes a tensor's bytes in `room`, which has recipe.size_bytes(). `pool` shares out the work and
// may be null. Error: corrupt, if a value decodes to no number or to one beyond F16's range, naming
// tensor and file.
Status cook(const Recipe& recipe, const safetensors::Folder& folder, ThreadPool* pool,
            std::span<std::byte> room);

}  // namespace evener::hf
