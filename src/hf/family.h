#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json_fields.h"
#include "hf/metadata.h"
#include "hf/sizes.h"

namespace evener::hf {

// Where the rows of a tensor go between folder and GGUF. D is the width of a head, G the number of
// key heads: in a folder the value heads of one key head are neighbours, in GGUF value head j
// belongs to key head j mod G.
enum class Order {
  as_stored,
  query_heads,  // rows k and k + D / 2 of a head, which the rotary turns, become neighbours
  key_heads,
  value_heads,
  values_behind_keys,      // value heads behind the rows of queries and keys
  columns_by_value_heads,  // not rows but columns
};

// What is done to its numbers.
enum class Change {
  none,
  add_one,    // norms that folders keep as w - 1
  minus_exp,  // A_log, of which GGUF has -exp(A_log)
};

// How a tensor of a layer is called on both sides. "mlp.experts.*.up_proj.weight" stands for as
// many tensors as there are experts, which become one stack.
struct TensorRule {
  std::string_view theirs;  // behind "model.layers.N."
  std::string_view ours;    // behind "blk.N."
  Order order = Order::as_stored;
  Change change = Change::none;
  // Kept as F32 whatever the folder has, dimensions of 1 left out: small tensors that the peer
  // wants so. Whatever has one dimension is F32 anyway.
  bool as_f32 = false;
};
using TensorRules = std::span<const TensorRule>;

// One family of folders: one file of this folder and one line in families.cpp.
struct Family {
  std::string_view name;                          // GGUF's name
  std::span<const std::string_view> model_types;  // config.json's
  std::span<const TensorRules> layers;
  Change norm_change = Change::none;  // of norms outside layers
  // The keys that are the family's own. Errors: corrupt, unsupported, naming the field.
  Status (*write_metadata)(const json::Fields& config, const Sizes& sizes, Metadata& metadata);
};

// Null if there is none for a model_type.
const Family* find_family(std::string_view model_type);

// "llama, mistral, ..."
std::string model_type_names();

}  // namespace evener::hf
