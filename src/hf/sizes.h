#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/json_fields.h"

namespace evener::hf {

// The sizes of a model that decide where the rows of its tensors go. 0: the family has none.
struct Sizes {
  uint64_t num_layers = 0;  // without those that draft tokens
  uint64_t num_mtp_layers = 0;
  uint64_t hidden_size = 0;
  uint64_t num_heads = 0;
  uint64_t num_kv_heads = 0;
  uint64_t head_dim = 0;
  uint64_t vocab_size = 0;
  uint64_t num_experts = 0;
  // Of gated delta nets.
  uint64_t num_key_heads = 0;
  uint64_t num_value_heads = 0;
  uint64_t state_size = 0;
};

// Larger than any real size by far, small enough that products of three fit 64 bits.
inline constexpr uint64_t kSizeMax = uint64_t{1} << 20;
inline constexpr uint64_t kLayersMax = 4096;
inline constexpr uint64_t kExpertsMax = 4096;

// The sizes that every family has, and those of experts and delta nets where `config` has them.
// Errors: corrupt, naming the field.
Result<Sizes> read_sizes(const json::Fields& config);

}  // namespace evener::hf
