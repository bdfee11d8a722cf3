#include "safetensors/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/json_fields.h"
#include "base/text.h"
#include "safetensors/folder_file.h"
#include "safetensors/header.h"

namespace evener::safetensors {
namespace {

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

// A file of the folder itself: an index from outside must not lead to other places.
bool is_plain_name(std::string_view file) {
  return file.ends_with(".safetensors") && file.find('/') == std::string_view::npos &&
         file.find('\0') == std::string_view::npos && file.size() <= 255;
}

// Names of the shards, each once.
Result<std::set<std::string>> shards_of(const json::Fields& index, const json::Value& weight_map,
                                        const Limits& limits) {
  std::set<std::string> files;
  for (const auto& [tensor, file] : weight_map.get_ref<const json::Value::object_t&>()) {
    const bool is_plain = file.is_string() && is_plain_name(file.get_ref<const std::string&>());
    if (!is_plain) {
      return index.error(
          "weight_map",
          fmt::format("tensor '{}' is said to be in {}, which is no .safetensors "
                      "file of this folder",
                      printable(tensor, 120),
                      file.is_string() ? printable(file.get_ref<const std::string&>(), 120)
                                       : std::string(json::kind(file))));
    }
    files.insert(file.get<std::string>());
    if (files.size() > limits.files) {
      Error error =
          index.error("weight_map", fmt::format("names more than {} files", limits.files));
      error.code = Code::limit_exceeded;
      return error;
    }
  }
  return files;
}

}  // namespace

Status Folder::add_file(const std::string& file, const Limits& limits) {
  const std::filesystem::path path = path_ / file;
  auto mapping = MappedFile::open(path);
  if (!mapping) {
    Error error = std::move(mapping).error();
    error.doing = "load model";
    if (error.code == Code::not_found) {
      error.why = "is named by the index and is missing";
      error.remedy = "all shards must lie in one folder: fetch this one too";
    }
    return error;
  }
  ASSIGN_OR_RETURN(auto tensors, read_header(mapping->bytes(), path.string(), limits));
  for (Tensor& tensor : tensors) {
    tensor.file_index = mappings_.size();
    tensors_.push_back(std::move(tensor));
  }
  mappings_.push_back(*std::move(mapping));
  return {};
}

Status Folder::sort_names() {
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), size_t{0});
  const auto name_of = [this](size_t i) -> std::string_view { return tensors_[i].name; };
  std::ranges::sort(by_name_, {}, [&](size_t i) { return std::pair(name_of(i), i); });
  const auto twin = std::ranges::adjacent_find(by_name_, {}, name_of);
  if (twin == by_name_.end()) return {};
  const Tensor& first = tensors_[*twin];
  return tensor_error(tensors_[*std::next(twin)],
                      fmt::format("is also in {}", mappings_[first.file_index].path().string()),
                      "the shards are of different models: fetch them again");
}

Status Folder::check_index(const json::Value& weight_map, const std::string& index_name) const {
  for (const auto& [name, file] : weight_map.get_ref<const json::Value::object_t&>()) {
    const Tensor* tensor = find(name);
    const auto& expected = file.get_ref<const std::string&>();
    const bool fits =
        tensor != nullptr && mappings_[tensor->file_index].path().filename() == expected;
    if (fits) continue;
    return Error{.code = Code::corrupt,
                 .doing = "load model",
                 .where = fmt::format("{}, tensor '{}'", index_name, printable(name, 120)),
                 .why = fmt::format("is said to be in {}, which does not have it", expected),
                 .remedy = "index and shards are of different models: fetch them again"};
  }
  for (const Tensor& tensor : tensors_) {
    if (weight_map.contains(tensor.name)) continue;
    return tensor_error(tensor, "is not in the index",
                        "index and shards are of different models: fetch them again");
  }
  return {};
}

Status Folder::add_shards(const json::Value& index, const std::string& index_name,
                          const Limits& limits) {
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(index, index_name));
  RETURN_IF_ERROR(fields.get_object("weight_map"));
  const json::Value& weight_map = *fields.find("weight_map");
  ASSIGN_OR_RETURN(const auto files, shards_of(fields, weight_map, limits));
  for (const std::string& file : files) RETURN_IF_ERROR(add_file(file, limits));
  RETURN_IF_ERROR(sort_names());
  return check_index(weight_map, index_name);
}

Result<Folder> Folder::open(const std::filesystem::path& path, const Limits& limits) {
  Folder folder(path);
  std::error_code ignored;
  if (std::filesystem::exists(path / kSingle, ignored)) {
    RETURN_IF_ERROR(folder.add_file(kSingle, limits));
    RETURN_IF_ERROR(folder.sort_names());
    return folder;
  }
  ASSIGN_OR_RETURN(const auto index, read_json(path, kIndex, limits.index_bytes));
  if (!index) {
    return Error{.code = Code::not_found,
                 .doing = "load model",
                 .where = path.string(),
                 .why = fmt::format("has neither {} nor {}", kSingle, kIndex),
                 .remedy = "fetch all files of the model; PyTorch's .bin files are not read"};
  }
  RETURN_IF_ERROR(folder.add_shards(*index, (path / kIndex).string(), limits));
  return folder;
}

const Tensor* Folder::find(std::string_view name) const {
  const auto name_of = [this](size_t i) -> std::string_view { return tensors_[i].name; };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return at != by_name_.end() && name_of(*at) == name ? &tensors_[*at] : nullptr;
}

uint64_t Folder::size_bytes() const {
  uint64_t sum = 0;
  for (const MappedFile& mapping : mappings_) sum += mapping.bytes().size();
  return sum;
}

Error Folder::tensor_error(const Tensor& tensor, std::string why, std::string remedy) const {
  return {.code = Code::corrupt,
          .doing = "load model",
          .where = fmt::format("{}, tensor '{}'", mappings_[tensor.file_index].path().string(),
                               printable(tensor.name, 120)),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

}  // namespace evener::safetensors
