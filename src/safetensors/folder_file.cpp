#include "safetensors/folder_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/mapped_file.h"

namespace evener::safetensors {

Result<std::optional<std::string>> read_text(const std::filesystem::path& folder,
                                             const std::string& file, uint64_t bytes_max) {
  const std::filesystem::path path = folder / file;
  const auto mapping = MappedFile::open(path);
  if (!mapping) {
    Error error = mapping.error();
    if (error.code == Code::not_found) return std::optional<std::string>();
    error.doing = "load model";
    return error;
  }
  const auto bytes = mapping->bytes();
  if (bytes.size() > bytes_max) {
    return Error{.code = Code::limit_exceeded,
                 .doing = "load model",
                 .where = path.string(),
                 .why = fmt::format("has {} bytes, at most {} are read", bytes.size(), bytes_max),
                 .remedy = {}};
  }
  return std::optional(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<std::optional<json::Value>> read_json(const std::filesystem::path& folder,
                                             const std::string& file, uint64_t bytes_max) {
  ASSIGN_OR_RETURN(const auto text, read_text(folder, file, bytes_max));
  if (!text) return std::optional<json::Value>();
  ASSIGN_OR_RETURN(json::Value value, json::parse(*text, (folder / file).string()));
  return std::make_optional(std::move(value));
}

}  // namespace evener::safetensors
