#include "gguf/split.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace evener::gguf {
namespace {

Error split_error(Code code, const Part& part, std::string_view key, std::string why) {
  return {.code = code,
          .doing = "load model",
          .where = fmt::format("{}, key '{}'", part.name, key),
          .why = std::move(why),
          .remedy = {}};
}

Result<uint64_t> required(const Part& part, std::string_view key) {
  const Value* value = part.find(key);
  if (value == nullptr) return split_error(Code::corrupt, part, key, "is missing in a split file");
  const auto number = value->as_uint();
  if (number) return *number;
  return split_error(Code::corrupt, part, key, "is not an integer >= 0");
}

// What gguf-split of llama.cpp puts behind the common name. Part numbers count from 1 there.
std::string suffix(const SplitInfo& info, uint64_t index) {
  return fmt::format("-{:05}-of-{:05}.gguf", index + 1, info.count);
}

}  // namespace

Result<std::optional<SplitInfo>> split_info(const Part& part, uint64_t parts_max) {
  if (part.find("split.count") == nullptr) return std::optional<SplitInfo>();
  SplitInfo info;
  ASSIGN_OR_RETURN(info.count, required(part, "split.count"));
  if (info.count <= 1) return std::optional<SplitInfo>();
  if (info.count > parts_max) {
    return split_error(Code::limit_exceeded, part, "split.count",
                       fmt::format("is {}, at most {} is allowed", info.count, parts_max));
  }
  ASSIGN_OR_RETURN(info.index, required(part, "split.no"));
  if (info.index >= info.count) {
    return split_error(Code::corrupt, part, "split.no",
                       fmt::format("is {}, but split.count is {}", info.index, info.count));
  }
  ASSIGN_OR_RETURN(info.num_tensors, required(part, "split.tensors.count"));
  return std::optional(info);
}

Result<std::filesystem::path> sibling_path(const std::filesystem::path& path, const SplitInfo& info,
                                           uint64_t index) {
  const std::string name = path.filename().string();
  const std::string expected = suffix(info, info.index);
  if (!name.ends_with(expected)) {
    return Error{.code = Code::corrupt,
                 .doing = "load model",
                 .where = path.string(),
                 .why = fmt::format("is part {} of {} by its metadata, not by its name",
                                    info.index + 1, info.count),
                 .remedy = fmt::format("name it as it was published: NAME{}", expected)};
  }
  const std::string common = name.substr(0, name.size() - expected.size());
  return path.parent_path() / (common + suffix(info, index));
}

}  // namespace evener::gguf
