#include "quantise/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "base/mapped_file.h"
#include "base/text.h"
#include "gguf/file.h"

namespace evener::quantise {
namespace {

constexpr size_t kNameBytesMax = 1024;
constexpr std::string_view kSums = ".in_sum2";
constexpr std::string_view kCounts = ".counts";

// Takes numbers and texts off the front; nothing where there is not enough left.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> left) : left_(left) {}

  std::optional<int32_t> number() {
    if (left_.size() < sizeof(int32_t)) return {};
    int32_t value = 0;
    std::memcpy(&value, left_.data(), sizeof value);
    left_ = left_.subspan(sizeof value);
    return value;
  }
  std::optional<std::string_view> text() {
    const auto length = number();
    if (!length || *length < 0 || size_t(*length) > std::min(kNameBytesMax, left_.size())) {
      return {};
    }
    const std::string_view result(reinterpret_cast<const char*>(left_.data()), size_t(*length));
    left_ = left_.subspan(result.size());
    return result;
  }
  std::optional<std::vector<float>> floats(size_t count) {
    if (count > left_.size() / sizeof(float)) return {};
    std::vector<float> result(count);
    std::memcpy(result.data(), left_.data(), count * sizeof(float));
    left_ = left_.subspan(count * sizeof(float));
    return result;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

std::vector<float> floats_of(const gguf::Tensor& tensor) {
  std::vector<float> values(tensor.num_elements());
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

bool is_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && std::memcmp(bytes.data(), "GGUF", 4) == 0;
}

}  // namespace

Result<Importance> Importance::open(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse(file.bytes(), path.string());
}

Result<Importance> Importance::parse(std::span<const std::byte> bytes, const std::string& name) {
  Importance importance(name);
  RETURN_IF_ERROR(is_gguf(bytes) ? importance.read_gguf(bytes) : importance.read_dat(bytes));
  if (importance.values_.empty()) return importance.corrupt({}, "it tells of no matrix");
  return importance;
}

std::span<const float> Importance::find(std::string_view tensor) const {
  const auto found = values_.find(tensor);
  return found == values_.end() ? std::span<const float>() : found->second;
}

Status Importance::read_dat(std::span<const std::byte> bytes) {
  constexpr std::string_view kCut = "ends too early, or is no importance matrix";
  Bytes left(bytes);
  const auto num_entries = left.number();
  if (!num_entries || *num_entries < 1) return corrupt({}, std::string(kCut));
  for (int32_t entry = 0; entry < *num_entries; ++entry) {
    const auto tensor = left.text();
    const auto num_calls = left.number();
    const auto count = left.number();
    if (!tensor || !num_calls || !count || *count < 1) {
      return corrupt({}, fmt::format("entry {} of {}: {}", entry, *num_entries, kCut));
    }
    auto values = left.floats(size_t(*count));
    if (!values) return corrupt(*tensor, std::string(kCut));
    if (*num_calls > 0) {
      for (float& value : *values) value /= float(*num_calls);
    }
    RETURN_IF_ERROR(add(*tensor, *std::move(values)));
  }
  if (left.empty()) return {};
  num_chunks_ = uint32_t(std::max(left.number().value_or(0), 0));
  dataset_ = std::string(left.text().value_or(""));
  return {};
}

Status Importance::read_gguf(std::span<const std::byte> bytes) {
  ASSIGN_OR_RETURN(const gguf::File file, gguf::File::parse(bytes, name_));
  ASSIGN_OR_RETURN(const std::string_view type, file.get_string_or("general.type", ""));
  if (type != "imatrix") {
    return file.key_error("general.type", "is not 'imatrix': this is another kind of file",
                          "collect an importance matrix with llama-imatrix");
  }
  for (const gguf::Tensor& sums : file.tensors()) {
    if (!sums.name.ends_with(kSums)) continue;
    const std::string_view tensor =
        std::string_view(sums.name).substr(0, sums.name.size() - kSums.size());
    ASSIGN_OR_RETURN(const gguf::Tensor* const counts,
                     file.get_tensor(std::string(tensor) + std::string(kCounts)));
    if (sums.dtype != DType::F32 || counts->dtype != DType::F32) {
      return file.tensor_error(sums, "sums and counts must be F32");
    }
    const size_t num_inputs = sums.shape[0];
    if (counts->num_elements() != sums.num_elements() / num_inputs) {
      return file.tensor_error(
          *counts, fmt::format("has {} counts for {} rows of sums", counts->num_elements(),
                               sums.num_elements() / num_inputs));
    }
    std::vector<float> values = floats_of(sums);
    const std::vector<float> divisors = floats_of(*counts);
    for (size_t i = 0; i < values.size(); ++i) {
      const float count = divisors[i / num_inputs];
      values[i] = count == 0 ? 0 : values[i] / count;
    }
    RETURN_IF_ERROR(add(tensor, std::move(values)));
  }
  constexpr uint64_t kChunksMax = UINT32_MAX;
  ASSIGN_OR_RETURN(const uint64_t chunks, file.get_uint_or("imatrix.chunk_count", 0, kChunksMax));
  num_chunks_ = uint32_t(chunks);
  if (const gguf::Value* const datasets = file.find("imatrix.datasets")) {
    const gguf::Array* const names = datasets->as_array();
    if (names != nullptr && !names->strings().empty()) dataset_ = names->strings().front();
  }
  return {};
}

Status Importance::add(std::string_view tensor, std::vector<float> values) {
  const bool is_sound =
      std::ranges::all_of(values, [](float value) { return std::isfinite(value) && value >= 0; });
  if (!is_sound) return corrupt(tensor, "a mean of squares is negative or no number");
  const bool is_new = values_.emplace(tensor, std::move(values)).second;
  if (!is_new) return corrupt(tensor, "is told of twice");
  return {};
}

Error Importance::corrupt(std::string_view tensor, std::string why) const {
  return {.code = Code::corrupt,
          .doing = "read importance matrix",
          .where = tensor.empty() ? name_ : name_ + ", '" + printable(tensor, 80) + "'",
          .why = std::move(why),
          .remedy = {}};
}

}  // namespace evener::quantise
