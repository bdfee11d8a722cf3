#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hf/family.h"
#include "hf/sizes.h"

namespace evener::hf {

// Both sides' names of one rule at its place in the model.
struct NamedRule {
  std::string theirs;  // "model.layers.3.mlp.up_proj.weight"; "*" stands for every expert
  std::string ours;    // "blk.3.ffn_up.weight"
  const TensorRule* rule;
};

// The names of a family's tensors in a folder whose language model lies behind `root`:
// "model." or "model.language_model.".
class TensorNames {
 public:
  TensorNames(const Family& family, const Sizes& sizes, std::string root);

  const std::string& root() const { return root_; }

  // All that may be there, in the order of a GGUF file: both ends, layers, layers that draft.
  std::vector<NamedRule> all() const;

  // What the folder calls a tensor of GGUF, or nothing if no rule makes it.
  std::optional<std::string> theirs_of(std::string_view ours) const;

 private:
  std::string layer_prefix(uint64_t layer) const;  // "model.layers.3."
  void add_layer(uint64_t layer, std::vector<NamedRule>& rules) const;

  const Family& family_;
  Sizes sizes_;
  std::string root_;
  TensorRule final_norm_;
  TensorRule mtp_norms_[3];
};

}  // namespace evener::hf
