#include "safetensors/quant_config.h"

#include <fmt/format.h>

#include "base/text.h"

namespace evener::safetensors {
namespace {

constexpr uint64_t kGroupMax = 1 << 20;

Error unsupported(const json::Fields& fields, std::string_view name, std::string why) {
  Error error = fields.error(name, std::move(why), "fetch or make a model in another form");
  error.code = Code::unsupported;
  return error;
}

Status read_fp8(const json::Fields& fields, QuantConfig& config) {
  config.method = QuantConfig::Method::fp8;
  ASSIGN_OR_RETURN(const auto format, fields.get_string_or("fmt", "e4m3"));
  if (format != "e4m3") {
    return unsupported(fields, "fmt",
                       fmt::format("is '{}', only e4m3 is read", printable(format, 40)));
  }
  if (!fields.has("weight_block_size")) return {};
  ASSIGN_OR_RETURN(const auto block, fields.get_uints("weight_block_size", kGroupMax));
  if (block.size() != 2 || block[0] == 0 || block[1] == 0) {
    return fields.error("weight_block_size", "is not two numbers above 0");
  }
  config.block_outputs = block[0];
  config.block_inputs = block[1];
  return {};
}

// -1, or no field: all inputs of an output share one scale.
Status read_group_size(const json::Fields& fields, QuantConfig& config) {
  const json::Value* value = fields.find("group_size");
  const bool is_whole = value != nullptr && value->is_number_integer() &&
                        !value->is_number_unsigned() && value->get<int64_t>() == -1;
  if (value == nullptr || is_whole) {
    config.group_size = 0;
    return {};
  }
  ASSIGN_OR_RETURN(config.group_size, fields.get_uint("group_size", kGroupMax));
  if (config.group_size == 0) return fields.error("group_size", "is 0");
  return {};
}

Status read_gptq(const json::Fields& fields, QuantConfig& config) {
  config.method = QuantConfig::Method::gptq;
  ASSIGN_OR_RETURN(config.bits, fields.get_uint("bits", 64));
  if (config.bits != 4 && config.bits != 8) {
    return unsupported(fields, "bits", fmt::format("is {}, only 4 and 8 are read", config.bits));
  }
  ASSIGN_OR_RETURN(const auto format, fields.get_string_or("checkpoint_format", "gptq"));
  if (format != "gptq" && format != "gptq_v2") {
    return unsupported(
        fields, "checkpoint_format",
        fmt::format("is '{}', only gptq and gptq_v2 are read", printable(format, 40)));
  }
  config.zeros_less_one = format == "gptq";
  return read_group_size(fields, config);
}

Status read_awq(const json::Fields& fields, QuantConfig& config) {
  config.method = QuantConfig::Method::awq;
  ASSIGN_OR_RETURN(config.bits, fields.get_uint_or("bits", 4, 64));
  if (config.bits != 4) {
    return unsupported(fields, "bits", fmt::format("is {}, only 4 is read", config.bits));
  }
  ASSIGN_OR_RETURN(const auto version, fields.get_string_or("version", "gemm"));
  if (version != "gemm" && version != "GEMM") {
    return unsupported(fields, "version",
                       fmt::format("is '{}', only gemm is read", printable(version, 40)));
  }
  return read_group_size(fields, config);
}

// What compressed-tensors calls float-quantized are FP8 codes with scales beside them.
Status read_compressed(const json::Fields& fields, QuantConfig& config) {
  ASSIGN_OR_RETURN(const auto format, fields.get_string("format"));
  if (format == "float-quantized") {
    config.method = QuantConfig::Method::fp8;
    return {};
  }
  return unsupported(fields, "format",
                     fmt::format("is '{}', only float-quantized is read", printable(format, 40)));
}

}  // namespace

Result<QuantConfig> read_quant_config(const json::Fields& config) {
  QuantConfig result;
  if (!config.has("quantization_config")) return result;
  ASSIGN_OR_RETURN(const json::Fields fields, config.get_object("quantization_config"));
  ASSIGN_OR_RETURN(const auto method, fields.get_string("quant_method"));
  if (method == "fp8") {
    RETURN_IF_ERROR(read_fp8(fields, result));
  } else if (method == "gptq") {
    RETURN_IF_ERROR(read_gptq(fields, result));
  } else if (method == "awq") {
    RETURN_IF_ERROR(read_awq(fields, result));
  } else if (method == "compressed-tensors") {
    RETURN_IF_ERROR(read_compressed(fields, result));
  } else {
    return unsupported(fields, "quant_method",
                       fmt::format("is '{}', only fp8, gptq, awq and compressed-tensors are read",
                                   printable(method, 40)));
  }
  return result;
}

}  // namespace evener::safetensors
