#include "hf/folder_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "hf/rope.h"
#include "safetensors/folder_file.h"
#include "safetensors/limits.h"

namespace evener::hf {
namespace {

constexpr const char* kConfig = "config.json";
constexpr uint64_t kContextMax = uint64_t{1} << 31;

// Whose model_type is one that Evener knows, or the document's own.
Result<json::Fields> model_fields(const json::Fields& root) {
  return root.has("text_config") ? root.get_object("text_config") : Result<json::Fields>(root);
}

Result<const Family*> family_of(const json::Fields& root, const json::Fields& model) {
  ASSIGN_OR_RETURN(const auto outer, root.get_string("model_type"));
  ASSIGN_OR_RETURN(const auto inner, model.get_string_or("model_type", outer));
  for (const std::string_view type : {inner, outer}) {
    const Family* family = find_family(type);
    if (family != nullptr) return family;
  }
  Error error = root.error("model_type",
                           fmt::format("is '{}', which Evener cannot run", printable(inner, 40)),
                           "it knows " + model_type_names());
  error.code = Code::unsupported;
  return error;
}

Result<std::optional<bool>> tied_of(const json::Fields& root, const json::Fields& model) {
  for (const json::Fields* fields : {&root, &model}) {
    if (!fields->has("tie_word_embeddings")) continue;
    ASSIGN_OR_RETURN(const bool is_tied, fields->get_bool_or("tie_word_embeddings", false));
    return std::optional(is_tied);
  }
  return std::optional<bool>();
}

Status check_activation(const json::Fields& model) {
  ASSIGN_OR_RETURN(const auto name, model.get_string_or("hidden_act", "silu"));
  if (name == "silu") return {};
  Error error = model.error("hidden_act",
                            fmt::format("is '{}', only silu is supported", printable(name, 40)));
  error.code = Code::unsupported;
  return error;
}

// Inside its window a model with a sliding one computes as without.
Result<uint64_t> context_of(const json::Fields& model) {
  ASSIGN_OR_RETURN(const uint64_t context, model.get_uint("max_position_embeddings", kContextMax));
  ASSIGN_OR_RETURN(const bool slides, model.get_bool_or("use_sliding_window", true));
  if (!slides || !model.has("sliding_window")) return context;
  ASSIGN_OR_RETURN(const uint64_t window, model.get_uint("sliding_window", kContextMax));
  return std::min(context, window);
}

}  // namespace

Result<FolderConfig> read_folder_config(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(auto read,
                   safetensors::read_json(folder, kConfig, safetensors::Limits().config_bytes));
  if (!read) {
    return Error{.code = Code::not_found,
                 .doing = "load model",
                 .where = folder.string(),
                 .why = "has no config.json",
                 .remedy = "name a GGUF file or the folder of a Hugging Face model"};
  }
  auto document = std::make_unique<json::Value>(*std::move(read));
  ASSIGN_OR_RETURN(const json::Fields root,
                   json::Fields::of(*document, (folder / kConfig).string()));
  ASSIGN_OR_RETURN(json::Fields model, model_fields(root));
  ASSIGN_OR_RETURN(const Family* family, family_of(root, model));
  RETURN_IF_ERROR(check_activation(model));
  ASSIGN_OR_RETURN(const Sizes sizes, read_sizes(model));
  ASSIGN_OR_RETURN(const auto quant, safetensors::read_quant_config(root));
  ASSIGN_OR_RETURN(const auto is_tied, tied_of(root, model));
  return FolderConfig{.document = std::move(document),
                      .model = std::move(model),
                      .family = family,
                      .sizes = sizes,
                      .quant = quant,
                      .is_tied = is_tied};
}

Status write_metadata(const FolderConfig& config, gguf::Header& header) {
  const json::Fields& model = config.model;
  const Sizes& sizes = config.sizes;
  header.set("general.architecture", config.family->name);
  Metadata metadata(header, config.family->name);
  metadata.set("block_count", sizes.num_layers + sizes.num_mtp_layers);
  if (sizes.num_mtp_layers > 0) metadata.set("nextn_predict_layers", sizes.num_mtp_layers);
  ASSIGN_OR_RETURN(const uint64_t context, context_of(model));
  metadata.set("context_length", context);
  metadata.set("embedding_length", sizes.hidden_size);
  ASSIGN_OR_RETURN(const uint64_t width, model.get_uint_or("intermediate_size", 0, kSizeMax));
  if (width > 0) metadata.set("feed_forward_length", width);
  metadata.set("attention.head_count", sizes.num_heads);
  metadata.set("attention.head_count_kv", sizes.num_kv_heads);
  metadata.set("attention.key_length", sizes.head_dim);
  metadata.set("attention.value_length", sizes.head_dim);
  ASSIGN_OR_RETURN(const double epsilon, model.get_number("rms_norm_eps"));
  metadata.set_float("attention.layer_norm_rms_epsilon", epsilon);
  metadata.set("vocab_size", sizes.vocab_size);
  RETURN_IF_ERROR(write_rope(model, sizes, metadata));
  return config.family->write_metadata(model, sizes, metadata);
}

}  // namespace evener::hf
