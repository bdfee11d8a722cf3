#include "safetensors/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "base/json_fields.h"
#include "base/text.h"

namespace evener::safetensors {
namespace {

constexpr uint64_t kLengthBytes = sizeof(uint64_t);
constexpr std::string_view kFetchAgain = "the file is cut short or damaged: fetch it again";
constexpr std::string_view kMetadata = "__metadata__";
// Of one tensor's entry: itself, type, shape and offsets with their numbers.
constexpr uint64_t kValuesPerTensor = 16;
constexpr size_t kHeaderDepth = 4;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The data of one file, and how its errors begin.
class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> file, std::string_view name, const Limits& limits)
      : file_(file), name_(name), limits_(limits) {}

  Result<std::vector<Tensor>> read();

 private:
  struct Placed {
    Tensor tensor;
    uint64_t begin = 0;  // in the data section
    uint64_t end = 0;
  };

  Error error(Code code, std::string why) const;
  Error error(std::string_view tensor, Code code, std::string why) const;
  Result<std::string_view> header_text();
  Result<Placed> read_entry(const std::string& name, const json::Value& entry) const;
  Result<Element> read_element(const std::string& name, const json::Fields& fields) const;
  Result<uint64_t> size_of(const Tensor& tensor) const;
  Status place(std::vector<Placed>& all) const;

  std::span<const std::byte> file_;
  std::string name_;
  const Limits& limits_;
  std::span<const std::byte> data_;
};

Error HeaderReader::error(Code code, std::string why) const {
  return {.code = code,
          .doing = "load model",
          .where = name_,
          .why = std::move(why),
          .remedy = code == Code::corrupt ? std::string(kFetchAgain) : std::string()};
}

Error HeaderReader::error(std::string_view tensor, Code code, std::string why) const {
  Error made = error(code, std::move(why));
  made.where += fmt::format(", tensor '{}'", printable(tensor, 120));
  return made;
}

// Also finds where the data begin.
Result<std::string_view> HeaderReader::header_text() {
  if (text_of(file_).starts_with("version https://git-lfs")) {
    Error made = error(Code::unsupported, "is a git-lfs pointer, not the file itself");
    made.remedy = "fetch the file itself with 'git lfs pull' or from the model's page";
    return made;
  }
  if (file_.size() < kLengthBytes) {
    return error(Code::corrupt, fmt::format("has {} bytes, the length of its header alone takes {}",
                                            file_.size(), kLengthBytes));
  }
  uint64_t length = 0;
  std::memcpy(&length, file_.data(), sizeof length);
  const uint64_t rest = file_.size() - kLengthBytes;
  if (length > rest) {
    return error(Code::corrupt, fmt::format("says its header has {} bytes, {} are left in the file",
                                            length, rest));
  }
  if (length > limits_.header_bytes) {
    return error(Code::limit_exceeded, fmt::format("has a header of {} bytes, at most {} are read",
                                                   length, limits_.header_bytes));
  }
  data_ = file_.subspan(kLengthBytes + length);
  return text_of(file_.subspan(kLengthBytes, length));
}

Result<Element> HeaderReader::read_element(const std::string& name,
                                           const json::Fields& fields) const {
  ASSIGN_OR_RETURN(const std::string_view dtype, fields.get_string("dtype"));
  if (const auto element = element_from_name(dtype)) return *element;
  return error(name, Code::unsupported,
               fmt::format("has type '{}', which Evener does not know", printable(dtype, 40)));
}

Result<uint64_t> HeaderReader::size_of(const Tensor& tensor) const {
  uint64_t size_bytes = info(tensor.element).size_bytes;
  bool is_empty = false;
  for (const uint64_t dim : tensor.shape) {
    is_empty = is_empty || dim == 0;
    // Of dimensions behind a 0 the product must fit as well: others multiply them.
    if (dim > 0 && __builtin_mul_overflow(size_bytes, dim, &size_bytes)) {
      return error(tensor.name, Code::corrupt,
                   fmt::format("shape {} is too large to count", shape_text(tensor.shape)));
    }
  }
  return is_empty ? 0 : size_bytes;
}

Result<HeaderReader::Placed> HeaderReader::read_entry(const std::string& name,
                                                      const json::Value& entry) const {
  const std::string where = fmt::format("{}, tensor '{}'", name_, printable(name, 120));
  if (name.empty() || name.size() > limits_.name_bytes) {
    return error(
        name, Code::limit_exceeded,
        fmt::format("its name has {} bytes, 1 to {} are allowed", name.size(), limits_.name_bytes));
  }
  ASSIGN_OR_RETURN(const json::Fields fields, json::Fields::of(entry, where));
  Placed placed;
  placed.tensor.name = name;
  ASSIGN_OR_RETURN(placed.tensor.element, read_element(name, fields));
  ASSIGN_OR_RETURN(placed.tensor.shape, fields.get_uints("shape"));
  if (placed.tensor.shape.size() > limits_.dims) {
    return error(name, Code::limit_exceeded,
                 fmt::format("has {} dimensions, at most {} are allowed",
                             placed.tensor.shape.size(), limits_.dims));
  }
  ASSIGN_OR_RETURN(const auto offsets, fields.get_uints("data_offsets"));
  if (offsets.size() != 2) return fields.error("data_offsets", "is not two numbers");
  placed.begin = offsets[0];
  placed.end = offsets[1];
  if (placed.end < placed.begin) {
    return fields.error("data_offsets",
                        fmt::format("ends at {}, before {}", placed.end, placed.begin));
  }
  if (placed.end > data_.size()) {
    Error made = fields.error(
        "data_offsets",
        fmt::format("ends at byte {} of the data, which has {}", placed.end, data_.size()));
    made.remedy = "the download is cut short: fetch the file again";
    return made;
  }
  ASSIGN_OR_RETURN(const uint64_t size_bytes, size_of(placed.tensor));
  if (size_bytes != placed.end - placed.begin) {
    return error(
        name, Code::corrupt,
        fmt::format("has {} bytes, {} numbers of type {} take {}", placed.end - placed.begin,
                    shape_text(placed.tensor.shape), info(placed.tensor.element).name, size_bytes));
  }
  return placed;
}

// Every byte of the data belongs to one tensor.
Status HeaderReader::place(std::vector<Placed>& all) const {
  std::ranges::sort(all, {}, [](const Placed& placed) {
    return std::tuple(placed.begin, placed.end, std::string_view(placed.tensor.name));
  });
  uint64_t end = 0;
  for (Placed& placed : all) {
    if (placed.begin != end) {
      return error(
          placed.tensor.name, Code::corrupt,
          fmt::format("its data begin at byte {}, those before end at {}", placed.begin, end));
    }
    end = placed.end;
    placed.tensor.bytes = data_.subspan(placed.begin, placed.end - placed.begin);
  }
  if (end == data_.size()) return {};
  return error(Code::corrupt, fmt::format("its tensors end at byte {} of the data, which has {}",
                                          end, data_.size()));
}

Result<std::vector<Tensor>> HeaderReader::read() {
  ASSIGN_OR_RETURN(const std::string_view text, header_text());
  if (!text.starts_with('{')) {
    Error made = error(Code::unsupported, "is no safetensors file: its header is not JSON");
    made.remedy = "fetch the model's .safetensors files";
    return made;
  }
  const json::Limits json_limits{.depth = kHeaderDepth,
                                 .num_values = kValuesPerTensor * limits_.tensors};
  ASSIGN_OR_RETURN(const json::Value header, json::parse(text, name_ + ", header", json_limits));
  if (header.size() > limits_.tensors) {
    return error(Code::limit_exceeded, fmt::format("has {} tensors, at most {} are read",
                                                   header.size(), limits_.tensors));
  }
  std::vector<Placed> all;
  all.reserve(header.size());
  for (const auto& [name, entry] : header.get_ref<const json::Value::object_t&>()) {
    if (name == kMetadata) continue;
    ASSIGN_OR_RETURN(auto placed, read_entry(name, entry));
    all.push_back(std::move(placed));
  }
  RETURN_IF_ERROR(place(all));
  std::vector<Tensor> tensors;
  tensors.reserve(all.size());
  for (Placed& placed : all) tensors.push_back(std::move(placed.tensor));
  return tensors;
}

}  // namespace

Result<std::vector<Tensor>> read_header(std::span<const std::byte> file, std::string_view name,
                                        const Limits& limits) {
  return HeaderReader(file, name, limits).read();
}

}  // namespace evener::safetensors
