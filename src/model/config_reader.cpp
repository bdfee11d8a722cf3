// Sizes from a GGUF file, each checked before anything is computed with it. Source of the keys:
// reference/models/llama.md.
#include <cmath>
#include <string>

#include "base/text.h"
#include "model/families.h"
#include "model/loader.h"
#include "quant/format.h"

namespace evener::model {
namespace {

class ConfigReader {
 public:
  ConfigReader(const gguf::File& file, std::string family) : file_(file) {
    config_.family = std::move(family);
  }

  Result<Config> read();

 private:
  std::string key(const char* name) const { return config_.family + "." + name; }
  Result<size_t> size(const char* name, size_t max = kWidthMax) const;
  Result<void> read_layers();
  Result<void> read_intermediate_size();
  Result<void> read_heads();
  Result<void> read_vocabulary();
  Result<void> read_rope();
  Result<void> read_rope_scaling();
  Result<void> read_rope_divisors();

  const gguf::File& file_;
  Config config_;
};

// A size that must be there and must not be 0.
Result<size_t> ConfigReader::size(const char* name, size_t max) const {
  ASSIGN_OR_RETURN(const uint64_t value, file_.get_uint(key(name), max));
  if (value == 0) return file_.key_error(key(name), "is 0");
  return value;
}

Result<void> ConfigReader::read_layers() {
  ASSIGN_OR_RETURN(const size_t num_blocks, size("block_count", 4096));
  ASSIGN_OR_RETURN(config_.num_mtp_layers,
                   file_.get_uint_or(key("nextn_predict_layers"), 0, num_blocks - 1));
  config_.num_layers = num_blocks - config_.num_mtp_layers;
  config_.recurrent.assign(config_.num_layers, false);
  ASSIGN_OR_RETURN(config_.hidden_size, size("embedding_length"));
  RETURN_IF_ERROR(read_intermediate_size());
  ASSIGN_OR_RETURN(config_.context_length, size("context_length", size_t{1} << 31));
  ASSIGN_OR_RETURN(config_.norm_eps, file_.get_float(key("attention.layer_norm_rms_epsilon")));
  if (config_.norm_eps <= 0)
    return file_.key_error(key("attention.layer_norm_rms_epsilon"), "is not above 0");
  return {};
}

// Files of mixtures whose experts have a size of their own may leave it out.
Result<void> ConfigReader::read_intermediate_size() {
  const bool has_experts = file_.has(key("expert_feed_forward_length"));
  if (has_experts && !file_.has(key("feed_forward_length"))) return {};
  ASSIGN_OR_RETURN(config_.intermediate_size, size("feed_forward_length"));
  if (config_.intermediate_size % kWidthUnit != 0) {
    return file_.key_error(
        key("feed_forward_length"),
        "must be a multiple of 4, is " + std::to_string(config_.intermediate_size));
  }
  return {};
}

Result<void> ConfigReader::read_heads() {
  ASSIGN_OR_RETURN(config_.num_heads, size("attention.head_count"));
  ASSIGN_OR_RETURN(config_.num_kv_heads,
                   file_.get_uint_or(key("attention.head_count_kv"), config_.num_heads, kWidthMax));
  if (config_.num_kv_heads == 0 || config_.num_heads % config_.num_kv_heads != 0) {
    return file_.key_error(key("attention.head_count_kv"),
                           std::to_string(config_.num_heads) + " query heads do not share " +
                               std::to_string(config_.num_kv_heads) + " kv heads evenly");
  }
  const size_t default_dim = config_.hidden_size / config_.num_heads;
  ASSIGN_OR_RETURN(config_.head_dim,
                   file_.get_uint_or(key("attention.key_length"), default_dim, kWidthMax));
  ASSIGN_OR_RETURN(const uint64_t value_dim,
                   file_.get_uint_or(key("attention.value_length"), config_.head_dim, kWidthMax));
  if (value_dim != config_.head_dim) {
    return file_.key_error(key("attention.value_length"),
                           "differs from key_length, which Evener does not support");
  }
  for (const size_t width : {config_.hidden_size, config_.head_dim}) {
    if (width == 0 || width % kWidthUnit != 0) {
      return file_.key_error(
          key("embedding_length"),
          "hidden and head sizes must be multiples of 4, found " + std::to_string(width));
    }
  }
  return {};
}

Result<void> ConfigReader::read_vocabulary() {
  ASSIGN_OR_RETURN(const gguf::Tensor* embedding, file_.get_tensor("token_embd.weight"));
  if (embedding->shape.size() != 2) return file_.tensor_error(*embedding, "is not a matrix");
  if (embedding->shape[1] > kWidthMax * 16)
    return file_.tensor_error(*embedding, "has too many rows for a vocabulary");
  config_.vocab_size = embedding->shape[1];
  return {};
}

Result<void> ConfigReader::read_rope() {
  RopeConfig& rope = config_.rope;
  ASSIGN_OR_RETURN(rope.dim,
                   file_.get_uint_or(key("rope.dimension_count"), config_.head_dim, kWidthMax));
  if (rope.dim == 0 || rope.dim % 2 != 0 || rope.dim > config_.head_dim) {
    return file_.key_error(key("rope.dimension_count"),
                           "is " + std::to_string(rope.dim) +
                               "; it must be even and at most the head size " +
                               std::to_string(config_.head_dim));
  }
  ASSIGN_OR_RETURN(const float base, file_.get_float_or(key("rope.freq_base"), 10000));
  if (base <= 1) return file_.key_error(key("rope.freq_base"), "is not above 1");
  rope.base = static_cast<double>(base);
  RETURN_IF_ERROR(read_rope_scaling());
  return read_rope_divisors();
}

Result<void> ConfigReader::read_rope_scaling() {
  RopeConfig& rope = config_.rope;
  ASSIGN_OR_RETURN(const std::string_view type,
                   file_.get_string_or(key("rope.scaling.type"), "linear"));
  const std::string factor_key =
      key(file_.has(key("rope.scaling.factor")) ? "rope.scaling.factor" : "rope.scale_linear");
  ASSIGN_OR_RETURN(const float factor, file_.get_float_or(factor_key, 1));
  if (factor < 0) return file_.key_error(factor_key, "is below 0");
  rope.factor = factor == 0 ? 1 : static_cast<double>(factor);
  ASSIGN_OR_RETURN(const float attn_factor, file_.get_float_or(key("rope.scaling.attn_factor"), 1));
  rope.attn_factor = static_cast<double>(attn_factor);
  ASSIGN_OR_RETURN(const uint64_t context,
                   file_.get_uint_or(key("rope.scaling.original_context_length"),
                                     config_.context_length, uint64_t{1} << 31));
  rope.original_context = static_cast<double>(context);

  if (type == "none") {
    rope.scaling = RopeConfig::Scaling::none;
  } else if (type == "linear") {
    rope.scaling = RopeConfig::Scaling::linear;
  } else if (type == "yarn") {
    if (context == 0) return file_.key_error(key("rope.scaling.original_context_length"), "is 0");
    rope.scaling = RopeConfig::Scaling::yarn;
  } else {
    Error error = file_.key_error(key("rope.scaling.type"), "is '" + printable(type, 40) + "'",
                                  "supported are none, linear and yarn");
    error.code = Code::unsupported;
    return error;
  }
  return {};
}

Result<void> ConfigReader::read_rope_divisors() {
  const gguf::Tensor* tensor = file_.find_tensor("rope_freqs.weight");
  if (tensor == nullptr) return {};
  std::vector<float>& divisors = config_.rope.divisors;
  if (tensor->dtype != DType::F32) return file_.tensor_error(*tensor, "is not F32");
  if (tensor->num_elements() != config_.rope.dim / 2) {
    return file_.tensor_error(*tensor, "has " + std::to_string(tensor->num_elements()) +
                                           " values, the rotary turns " +
                                           std::to_string(config_.rope.dim / 2) + " pairs");
  }
  divisors.resize(config_.rope.dim / 2);
  std::vector<std::byte> room;
  ASSIGN_OR_RETURN(const auto bytes, file_.read(*tensor, room));
  quant::find_format(DType::F32)->decode(bytes, divisors.data());
  for (const float divisor : divisors) {
    if (!std::isfinite(divisor) || divisor <= 0)
      return file_.tensor_error(*tensor, "has a value that is not above 0");
  }
  return {};
}

Result<Config> ConfigReader::read() {
  RETURN_IF_ERROR(read_layers());
  RETURN_IF_ERROR(read_heads());
  RETURN_IF_ERROR(read_vocabulary());
  RETURN_IF_ERROR(read_rope());
  RETURN_IF_ERROR(find_family(config_.family)->read_config(file_, config_));
  return std::move(config_);
}

}  // namespace

Result<Config> read_config(const gguf::File& file) {
  ASSIGN_OR_RETURN(const std::string_view family, file.get_string("general.architecture"));
  if (find_family(family) == nullptr) {
    return Error{
        .code = Code::unsupported,
        .doing = "load model",
        .where = file.name(),
        .why = "its architecture '" + printable(family, 40) + "' is not one that Evener can run",
        .remedy = "supported are " + family_names()};
  }
  return ConfigReader(file, std::string(family)).read();
}

}  // namespace evener::model
