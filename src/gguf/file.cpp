#include "gguf/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "gguf/metadata_reader.h"
#include "gguf/part.h"
#include "gguf/split.h"

namespace evener::gguf {
namespace {

Result<Part> open_part(const std::filesystem::path& path, const Limits& limits) {
  auto mapping = MappedFile::open(path);
  if (!mapping) {
    Error error = std::move(mapping).error();
    error.doing = "load model";
    return error;
  }
  ASSIGN_OR_RETURN(auto part, read_part(mapping->bytes(), path.string(), limits));
  part.mapping.push_back(*std::move(mapping));
  return part;
}

Result<Part> open_sibling(const std::filesystem::path& path, const SplitInfo& expected,
                          const Limits& limits) {
  auto part = open_part(path, limits);
  if (!part) {
    Error error = std::move(part).error();
    if (error.code != Code::not_found) return error;
    error.why = fmt::format("part {} of {} is missing", expected.index + 1, expected.count);
    error.remedy = "all parts must lie in one folder: fetch this one too";
    return error;
  }
  ASSIGN_OR_RETURN(const auto found, split_info(*part, limits.parts));
  const bool fits = found && found->index == expected.index && found->count == expected.count &&
                    found->num_tensors == expected.num_tensors;
  if (fits) return part;
  const std::string what = found ? fmt::format("part {} of {} of a model of {} tensors",
                                               found->index + 1, found->count, found->num_tensors)
                                 : std::string("a whole model");
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = path.string(),
               .why = fmt::format("says it is {}, expected is part {} of {} of one of {} tensors",
                                  what, expected.index + 1, expected.count, expected.num_tensors),
               .remedy = "the parts are of different models: fetch them again"};
}

Result<std::vector<Part>> open_all(const std::filesystem::path& path, Part part,
                                   const SplitInfo& info, const Limits& limits) {
  std::vector<Part> parts;
  uint64_t num_tensors = 0;
  for (uint64_t i = 0; i < info.count; ++i) {
    SplitInfo expected = info;
    expected.index = i;
    ASSIGN_OR_RETURN(const auto sibling, sibling_path(path, info, i));
    if (i == info.index) {
      parts.push_back(std::move(part));  // NOLINT(bugprone-use-after-move): of one round alone
    } else {
      ASSIGN_OR_RETURN(auto opened, open_sibling(sibling, expected, limits));
      parts.push_back(std::move(opened));
    }
    num_tensors += parts.back().tensors.size();
  }
  if (num_tensors == info.num_tensors) return parts;
  return Error{
      .code = Code::corrupt,
      .doing = "load model",
      .where = fmt::format("{}, key 'split.tensors.count'", parts[0].name),
      .why = fmt::format("is {}, the parts hold {} tensors", info.num_tensors, num_tensors),
      .remedy = "the parts are of different models: fetch them again"};
}

}  // namespace

Result<File> File::open(const std::filesystem::path& path, const OpenOptions& options) {
  ASSIGN_OR_RETURN(auto part, open_part(path, options.limits));
  ASSIGN_OR_RETURN(const auto split, split_info(part, options.limits.parts));
  std::vector<Part> parts;
  if (split) {
    ASSIGN_OR_RETURN(parts, open_all(path, std::move(part), *split, options.limits));
  } else {
    parts.push_back(std::move(part));
  }
  return join(std::move(parts));
}

Result<File> File::parse(std::span<const std::byte> bytes, std::string name,
                         const OpenOptions& options) {
  ASSIGN_OR_RETURN(auto part, read_part(bytes, name, options.limits));
  ASSIGN_OR_RETURN(const auto split, split_info(part, options.limits.parts));
  if (split) {
    return Error{.code = Code::invalid_argument,
                 .doing = "load model",
                 .where = std::move(name),
                 .why = fmt::format("is part {} of {}: a part alone is no model", split->index + 1,
                                    split->count),
                 .remedy = {}};
  }
  std::vector<Part> parts;
  parts.push_back(std::move(part));
  return join(std::move(parts));
}

// Names are unique within a part; between parts that is checked here.
Result<File> File::join(std::vector<Part> parts) {
  File file;
  file.version_ = parts[0].version;
  file.alignment_ = parts[0].alignment;
  file.metadata_ = std::move(parts[0].metadata);
  file.metadata_by_key_ = std::move(parts[0].metadata_by_key);
  for (size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    file.size_bytes_ += part.size_bytes;
    for (Tensor& tensor : part.tensors) tensor.file_index = i;
    std::ranges::move(part.tensors, std::back_inserter(file.tensors_));
    std::ranges::move(part.mapping, std::back_inserter(file.mappings_));
    file.names_.push_back(std::move(part.name));
  }
  file.name_ = file.names_[0];
  RETURN_IF_ERROR(file.sort_tensors());
  return file;
}

Status File::sort_tensors() {
  auto& order = tensors_by_name_;
  order.resize(tensors_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto name_of = [&](size_t i) -> std::string_view { return tensors_[i].name; };
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(name_of(i), i); });
  const auto twin = std::ranges::adjacent_find(order, {}, name_of);
  if (twin == order.end()) return {};
  const Tensor& first = tensors_[*twin];
  return tensor_error(tensors_[*std::next(twin)],
                      fmt::format("is in {} too", names_[first.file_index]),
                      "the parts are of different models: fetch them again");
}

Result<File> File::assemble(const Header& header, Assembly assembly) {
  EVENER_ASSERT(header.num_tensors() == 0);
  EVENER_ASSERT(assembly.maker != nullptr);
  EVENER_ASSERT(!assembly.files.empty());
  File file;
  file.header_ = header.encode();
  ASSIGN_OR_RETURN(Part part, read_part(file.header_, assembly.name, {}));
  file.version_ = part.version;
  file.alignment_ = part.alignment;
  file.metadata_ = std::move(part.metadata);
  file.metadata_by_key_ = std::move(part.metadata_by_key);
  file.size_bytes_ = assembly.size_bytes;
  file.name_ = std::move(assembly.name);
  file.names_ = std::move(assembly.files);
  file.tensors_ = std::move(assembly.tensors);
  file.maker_ = std::move(assembly.maker);
  RETURN_IF_ERROR(file.sort_tensors());
  return file;
}

Result<std::span<const std::byte>> File::read(const Tensor& tensor,
                                              std::vector<std::byte>& room) const {
  if (maker_ == nullptr || !tensor.bytes.empty()) return tensor.bytes;
  RETURN_IF_ERROR(maker_->make(tensor, room));
  EVENER_ASSERT(room.size() == tensor.size_bytes());
  return std::span<const std::byte>(room);
}

std::string File::label(std::string_view tensor) const {
  return maker_ == nullptr ? fmt::format("'{}'", printable(tensor, 80)) : maker_->label(tensor);
}

const Value* File::find(std::string_view key) const {
  return gguf::find(metadata_, metadata_by_key_, key);
}

const Tensor* File::find_tensor(std::string_view name) const {
  const auto name_of = [&](size_t i) -> std::string_view { return tensors_[i].name; };
  const auto at = std::ranges::lower_bound(tensors_by_name_, name, {}, name_of);
  if (at == tensors_by_name_.end() || name_of(*at) != name) return nullptr;
  return &tensors_[*at];
}

Result<const Tensor*> File::get_tensor(std::string_view name) const {
  const Tensor* tensor = find_tensor(name);
  if (tensor != nullptr) return tensor;
  return Error{.code = Code::corrupt,
               .doing = "load model",
               .where = fmt::format("{}, tensor {}", name_, label(name)),
               .why = "is missing",
               .remedy = "the file is incomplete: fetch or convert the model again"};
}

Error File::key_error(std::string_view key, std::string why, std::string remedy) const {
  return {.code = Code::corrupt,
          .doing = "load model",
          .where = fmt::format("{}, key '{}'", name_, printable(key)),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

Error File::tensor_error(const Tensor& tensor, std::string why, std::string remedy) const {
  const std::string offset =
      maker_ == nullptr ? fmt::format(", offset {}", tensor.file_offset) : std::string();
  return {.code = Code::corrupt,
          .doing = "load model",
          .where =
              fmt::format("{}, tensor {}{}", names_[tensor.file_index], label(tensor.name), offset),
          .why = std::move(why),
          .remedy = std::move(remedy)};
}

}  // namespace evener::gguf
