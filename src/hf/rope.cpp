// Source: reference/models/llama.md; llama3's rule is in the paper's reference code: frequencies
// that turn less than low_freq_factor times in the original context are divided by `factor`, those
// that turn more than high_freq_factor times stay, between them it is blended.
#include "hf/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "base/text.h"

namespace evener::hf {
namespace {

constexpr uint64_t kContextMax = uint64_t{1} << 31;

struct Rope {
  uint64_t dim = 0;
  double base = 10000;
  std::string type = "default";
  std::optional<json::Fields> fields;  // where the scaling's numbers are
};

Result<std::string> type_of(const json::Fields& fields) {
  const std::string_view name = fields.has("rope_type") ? "rope_type" : "type";
  ASSIGN_OR_RETURN(const auto type, fields.get_string_or(name, "default"));
  return std::string(type);
}

Result<Rope> read_rope(const json::Fields& config, const Sizes& sizes) {
  Rope rope;
  ASSIGN_OR_RETURN(rope.base, config.get_number_or("rope_theta", 10000));
  ASSIGN_OR_RETURN(double share, config.get_number_or("partial_rotary_factor", 1));
  for (const char* const name : {"rope_parameters", "rope_scaling"}) {
    if (!config.has(name)) continue;
    ASSIGN_OR_RETURN(rope.fields, config.get_object(name));
    ASSIGN_OR_RETURN(rope.type, type_of(*rope.fields));
    ASSIGN_OR_RETURN(rope.base, rope.fields->get_number_or("rope_theta", rope.base));
    ASSIGN_OR_RETURN(share, rope.fields->get_number_or("partial_rotary_factor", share));
    break;
  }
  if (!(share > 0) || share > 1) return config.error("partial_rotary_factor", "is not in 0..1");
  if (!(rope.base > 1)) return config.error("rope_theta", "is not above 1");
  rope.dim = static_cast<uint64_t>(static_cast<double>(sizes.head_dim) * share);
  if (rope.dim == 0 || rope.dim % 2 != 0) {
    return config.error("partial_rotary_factor",
                        fmt::format("rotates {} channels of a head: no even number", rope.dim));
  }
  return rope;
}

Result<double> positive(const json::Fields& fields, std::string_view name) {
  ASSIGN_OR_RETURN(const double number, fields.get_number(name));
  if (!(number > 0)) return fields.error(name, "is not above 0");
  return number;
}

Error unsupported(const json::Fields& fields, std::string_view name, std::string why) {
  Error error = fields.error(name, std::move(why));
  error.code = Code::unsupported;
  return error;
}

// GGUF's reader has the magnitude of plain yarn, 1 + 0.1 ln(factor), and a factor upon that.
Status write_yarn(const json::Fields& fields, uint64_t context, Metadata& metadata) {
  ASSIGN_OR_RETURN(const double factor, positive(fields, "factor"));
  ASSIGN_OR_RETURN(const double fast, fields.get_number_or("beta_fast", 32));
  ASSIGN_OR_RETURN(const double slow, fields.get_number_or("beta_slow", 1));
  if (fast != 32) return unsupported(fields, "beta_fast", "is not 32");
  if (slow != 1) return unsupported(fields, "beta_slow", "is not 1");
  for (const char* const name : {"mscale", "mscale_all_dim"}) {
    if (fields.has(name)) return unsupported(fields, name, "is not supported");
  }
  metadata.set_text("rope.scaling.type", "yarn");
  metadata.set_float("rope.scaling.factor", factor);
  ASSIGN_OR_RETURN(const uint64_t original,
                   fields.get_uint_or("original_max_position_embeddings", context, kContextMax));
  metadata.set("rope.scaling.original_context_length", original);
  if (!fields.has("attention_factor")) return {};
  ASSIGN_OR_RETURN(const double attention, positive(fields, "attention_factor"));
  metadata.set_float("rope.scaling.attn_factor", attention / (1 + 0.1 * std::log(factor)));
  return {};
}

}  // namespace

Status write_rope(const json::Fields& config, const Sizes& sizes, Metadata& metadata) {
  ASSIGN_OR_RETURN(const Rope rope, read_rope(config, sizes));
  metadata.set("rope.dimension_count", rope.dim);
  metadata.set_float("rope.freq_base", rope.base);
  if (rope.type == "default" || rope.type == "llama3") return {};
  if (rope.type == "linear") {
    ASSIGN_OR_RETURN(const double factor, positive(*rope.fields, "factor"));
    metadata.set_text("rope.scaling.type", "linear");
    metadata.set_float("rope.scaling.factor", factor);
    return {};
  }
  if (rope.type == "yarn") {
    ASSIGN_OR_RETURN(const uint64_t context,
                     config.get_uint("max_position_embeddings", kContextMax));
    return write_yarn(*rope.fields, context, metadata);
  }
  return unsupported(*rope.fields, "rope_type",
                     fmt::format("is '{}', only default, linear, yarn and llama3 are supported",
                                 printable(rope.type, 40)));
}

Result<std::vector<float>> rope_divisors(const json::Fields& config, const Sizes& sizes) {
  ASSIGN_OR_RETURN(const Rope rope, read_rope(config, sizes));
  std::vector<float> divisors;
  if (rope.type != "llama3") return divisors;
  ASSIGN_OR_RETURN(const double factor, positive(*rope.fields, "factor"));
  ASSIGN_OR_RETURN(const double low, positive(*rope.fields, "low_freq_factor"));
  ASSIGN_OR_RETURN(const double high, positive(*rope.fields, "high_freq_factor"));
  ASSIGN_OR_RETURN(const double context,
                   positive(*rope.fields, "original_max_position_embeddings"));
  if (high <= low) return rope.fields->error("high_freq_factor", "is not above low_freq_factor");
  for (uint64_t pair = 0; pair < rope.dim / 2; ++pair) {
    const double frequency =
        std::pow(rope.base, -2 * static_cast<double>(pair) / static_cast<double>(rope.dim));
    const double turns = context * frequency / (2 * std::numbers::pi);
    const double keep = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    divisors.push_back(static_cast<float>(1 / ((1 - keep) / factor + keep)));
  }
  return divisors;
}

Status write_rope_sections(const json::Fields& config, Metadata& metadata) {
  std::vector<uint64_t> sections = {11, 11, 10};  // what is left out where it is the usual one
  for (const char* const name : {"rope_parameters", "rope_scaling"}) {
    if (!config.has(name)) continue;
    ASSIGN_OR_RETURN(const json::Fields fields, config.get_object(name));
    if (!fields.has("mrope_section")) continue;
    ASSIGN_OR_RETURN(sections, fields.get_uints("mrope_section", kSizeMax));
    if (sections.size() != 3) return fields.error("mrope_section", "is not three numbers");
  }
  sections.push_back(0);
  metadata.set_array("rope.dimension_sections",
                     std::vector<int32_t>(sections.begin(), sections.end()));
  return {};
}

}  // namespace evener::hf
