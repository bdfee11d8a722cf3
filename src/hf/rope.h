#pragma once

#include <vector>

#include "base/json_fields.h"
#include "hf/metadata.h"
#include "hf/sizes.h"

namespace evener::hf {

// Rotary positions, which config.json states in rope_parameters or, older, in rope_theta,
// partial_rotary_factor and rope_scaling. Errors: corrupt, unsupported, naming the field.
Status write_rope(const json::Fields& config, const Sizes& sizes, Metadata& metadata);

// What the angles are divided by under llama3 scaling: [rotated channels / 2]; else empty. A tensor
// of GGUF, "rope_freqs.weight". Errors: as write_rope.
Result<std::vector<float>> rope_divisors(const json::Fields& config, const Sizes& sizes);

// Four numbers: how many pairs turn with time, height and width.
Status write_rope_sections(const json::Fields& config, Metadata& metadata);

}  // namespace evener::hf
