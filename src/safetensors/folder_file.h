#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace evener::safetensors {

// The small files that lie beside a model's weights: config.json and its like. Nothing if the
// folder has no such file. Errors: those of MappedFile; limit_exceeded (more than `bytes_max`);
// of read_json also those of json::parse.
Result<std::optional<std::string>> read_text(const std::filesystem::path& folder,
                                             const std::string& file, uint64_t bytes_max);
Result<std::optional<json::Value>> read_json(const std::filesystem::path& folder,
                                             const std::string& file, uint64_t bytes_max);

}  // namespace evener::safetensors
