#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "hf/family.h"
#include "hf/sizes.h"
#include "safetensors/quant_config.h"

namespace evener::hf {

// What config.json says of a model.
struct FolderConfig {
  std::unique_ptr<json::Value> document;
  json::Fields model;  // of the language model: text_config, or the whole document
  const Family* family;
  Sizes sizes;
  safetensors::QuantConfig quant;
  std::optional<bool> is_tied;  // the head has no weights of its own; absent: not said
};

// Errors: not_found (no config.json), corrupt, unsupported (a family, an activation, a kind of
// quantisation), naming file and field.
Result<FolderConfig> read_folder_config(const std::filesystem::path& folder);

// The metadata that a GGUF file of the model has, without those of its tokenizer. Errors: as above.
Status write_metadata(const FolderConfig& config, gguf::Header& header);

}  // namespace evener::hf
