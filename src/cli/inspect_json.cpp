#include "cli/inspect_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "gguf/summary.h"

namespace evener::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(std::string_view text) { return utf8::replace_invalid(text); }

Json json_of(const gguf::Array& array);

Json json_of(const gguf::Value& value) {
  if (const gguf::Array* array = value.as_array()) return json_of(*array);
  if (const auto text = value.as_string()) return text_of(*text);
  if (const auto flag = value.as_bool()) return *flag;
  if (const auto number = value.as_uint()) return *number;
  if (const auto number = value.as_int()) return *number;
  return *value.as_float();
}

Json json_of(const gguf::Array& array) {
  Json::array_t elements;
  elements.reserve(array.size());
  for (const std::string_view text : array.strings()) elements.emplace_back(text_of(text));
  for (const gguf::Array& inner : array.arrays()) elements.push_back(json_of(inner));
  if (!array.bytes().empty()) {
    for (size_t i = 0; i < array.size(); ++i) elements.push_back(json_of(array[i]));
  }
  return elements;
}

Json metadata_of(const gguf::File& file) {
  // Appended unseen: keys are unique, and looking each up in an ordered object takes time squared.
  Json::object_t entries;
  entries.reserve(file.metadata().size());
  for (const auto& [key, value] : file.metadata()) {
    entries.push_back({text_of(key), json_of(value)});
  }
  return entries;
}

Json tensors_of(const gguf::File& file) {
  Json::array_t tensors;
  tensors.reserve(file.tensors().size());
  for (const gguf::Tensor& tensor : file.tensors()) {
    Json object = {{"name", text_of(tensor.name)},
                   {"type", info(tensor.dtype).name},
                   {"shape", tensor.shape},
                   {"offset", tensor.file_offset},
                   {"size_bytes", tensor.size_bytes()},
                   {"file_index", tensor.file_index}};
    if (!tensor.stored_as.empty()) {
      object["stored_as"] = tensor.stored_as;
      object["stored_bytes"] = tensor.stored_bytes;
    }
    if (file.is_assembled()) {
      object.erase("offset");  // nobody could find anything there
      object["label"] = file.label(tensor.name);
    }
    tensors.push_back(std::move(object));
  }
  return tensors;
}

Json types_of(const gguf::Summary& summary) {
  Json::array_t types;
  for (const gguf::TypeShare& share : summary.types) {
    types.push_back({{"type", share.name},
                     {"tensors", share.num_tensors},
                     {"parameters", share.num_parameters},
                     {"bytes", share.num_bytes},
                     {"bits_per_weight", share.bits_per_weight()}});
  }
  return types;
}

Json special_tokens_of(const gguf::Summary& summary) {
  Json::array_t tokens;
  for (const gguf::SpecialToken& token : summary.special_tokens) {
    tokens.push_back(
        {{"role", text_of(token.role)}, {"id", token.id}, {"text", text_of(token.text)}});
  }
  return tokens;
}

void set(Json& object, const char* key, const std::optional<std::string_view>& text) {
  if (text) object[key] = text_of(*text);
}

void set(Json& object, const char* key, const std::optional<uint64_t>& number) {
  if (number) object[key] = *number;
}

// One number, or [smallest, largest].
void set(Json& object, const char* key, const std::optional<gguf::NumberRange>& range) {
  if (!range) return;
  if (range->min == range->max) {
    object[key] = range->min;
  } else {
    object[key] = {range->min, range->max};
  }
}

Json summary_of(const gguf::File& file) {
  const gguf::Summary summary = gguf::summarise(file);
  Json object = Json::object();
  set(object, "family", summary.family);
  set(object, "name", summary.name);
  set(object, "license", summary.license);
  set(object, "quantisation", summary.file_type);
  object["parameters"] = summary.num_parameters;
  object["tensor_bytes"] = summary.tensor_bytes;
  object["bits_per_weight"] = summary.bits_per_weight();
  object["types"] = types_of(summary);
  set(object, "context_length", summary.context_length);
  set(object, "num_layers", summary.num_layers);
  set(object, "num_mtp_layers", summary.num_mtp_layers);
  set(object, "hidden_size", summary.hidden_size);
  set(object, "intermediate_size", summary.intermediate_size);
  set(object, "num_heads", summary.num_heads);
  set(object, "num_kv_heads", summary.num_kv_heads);
  set(object, "head_dim", summary.head_dim);
  set(object, "num_experts", summary.num_experts);
  set(object, "num_experts_per_token", summary.num_experts_per_token);
  set(object, "vocab_size", summary.vocab_size);
  set(object, "tokenizer_model", summary.tokenizer_model);
  set(object, "tokenizer_pre", summary.tokenizer_pre);
  object["special_tokens"] = special_tokens_of(summary);
  object["has_chat_template"] = summary.chat_template.has_value();
  return object;
}

}  // namespace

std::string inspect_json(const gguf::File& file) {
  Json files = Json::array();
  for (const std::string& name : file.names()) files.push_back(text_of(name));
  Json object = Json::object();
  object["file"] = text_of(file.name());
  object["files"] = std::move(files);
  object["size_bytes"] = file.size_bytes();
  object["format"] = file.is_assembled() ? "safetensors" : "gguf";
  if (!file.is_assembled()) {
    object["version"] = file.version();
    object["alignment"] = file.alignment();
  }
  object["summary"] = summary_of(file);
  object["metadata"] = metadata_of(file);
  object["tensors"] = tensors_of(file);
  constexpr int kIndent = 1;
  return object.dump(kIndent) + "\n";
}

}  // namespace evener::cli
