#pragma once

#include <cstddef>
#include <cstdint>

#include "safetensors/layout.h"
#include "safetensors/scales.h"

namespace evener::safetensors {

// What GPTQ and AWQ have in common: .scales [groups, out], .qzeros [groups, out * bits / 32].
struct Groups {
  size_t size = 0;  // inputs of a group
  size_t count = 0;
};

// The tensors beside the codes, of the right type and shape for `outputs`.
struct GroupedParts {
  const Tensor* zeros = nullptr;
  Scales scales;
};

// Groups of `inputs`. Error: corrupt if group_size does not divide them.
Result<Groups> groups_of(const Folder& folder, const Tensor& codes, uint64_t inputs,
                         const QuantConfig& config);

Result<GroupedParts> find_grouped_parts(const Folder& folder, std::string_view stem,
                                        uint64_t outputs, const Groups& groups,
                                        const QuantConfig& config);

// The codes' type is I32 and they are a matrix, not empty.
Status check_codes(const Folder& folder, const Tensor& codes);

}  // namespace evener::safetensors
