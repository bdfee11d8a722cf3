#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/json_fields.h"

namespace evener::safetensors {

// What config.json says in quantization_config about matrices that are not stored as plain numbers.
// Which ones are is seen from the tensors themselves.
struct QuantConfig {
  enum class Method { none, fp8, gptq, awq } method = Method::none;
  size_t bits = 4;             // of a code; gptq 4 or 8, awq 4
  size_t group_size = 128;     // inputs that share a scale; 0: all of them. gptq, awq
  bool zeros_less_one = true;  // gptq: stored zero points are one too small, as in old files
  size_t block_outputs = 128;  // fp8 with one scale a block
  size_t block_inputs = 128;
};

// `config` is the whole of config.json. Without quantization_config the method is none. Errors:
// corrupt, unsupported (another method, other widths), naming the field.
Result<QuantConfig> read_quant_config(const json::Fields& config);

}  // namespace evener::safetensors
