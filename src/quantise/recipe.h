#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gguf/file.h"
#include "tensor/dtype.h"

namespace evener::quantise {

// What a rule about types needs to know of a model.
struct ModelShape {
  size_t num_layers = 0;     // MTP layers included
  size_t heads_per_kv = 1;   // query heads that share a key and value head
  bool is_mixture = false;   // of experts
  bool has_output = false;   // a head of its own; else the embedding is the head too
  bool is_weighted = false;  // an importance matrix is at hand
};

ModelShape shape_of(const gguf::File& file);

// A way of choosing a type for each matrix of a model. The names and file types are those that the
// field knows from llama.cpp; which matrix gets more bits follows what is known to hurt: the map of
// values and the one back from the feed-forward layer, most of all in the first and last layers,
// and the head. In mixtures all that every token passes through is a small part of the file, and
// gets more bits too.
struct Recipe {
  std::string_view name;  // "Q4_K_M"
  uint64_t file_type;     // general.file_type
  DType (*choose)(std::string_view tensor, const ModelShape& shape);
};

// In the order of their sizes, largest first.
std::span<const Recipe> recipes();
const Recipe* find_recipe(std::string_view name);  // in any case; null if there is none

// The type that `tensor` is to have, or nothing if it stays as it is: vectors, and small matrices
// whose errors would be felt everywhere (routers, convolutions). Where the rows are no whole number
// of blocks a type with smaller blocks stands in.
std::optional<DType> choose_type(const Recipe& recipe, const gguf::Tensor& tensor,
                                 const ModelShape& shape);

}  // namespace evener::quantise
