#include "gguf/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/text.h"

namespace evener::gguf {
namespace {

constexpr uint64_t kNameBytesMax = 255;  // ggml stops at 63; other programs write longer names
constexpr uint32_t kDimsMax = 4;

// Types that ggml numbered once and gave up.
constexpr bool is_retired(uint32_t type_id) {
  return type_id == 4 || type_id == 5 || (type_id >= 31 && type_id <= 33) ||
         (type_id >= 36 && type_id <= 38);
}

// A tensor before its bytes are found.
struct Described {
  Tensor tensor;
  uint64_t description_offset = 0;  // of its first field, for errors
  uint64_t data_offset = 0;         // from the start of the data section
  uint64_t size_bytes = 0;
};

std::string item_text(const Tensor& tensor) {
  return fmt::format("tensor '{}'", printable(tensor.name));
}

Result<std::string> read_name(Cursor& cursor, uint64_t index) {
  cursor.set_item(fmt::format("tensor {}", index));
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(const auto name, cursor.read_string(kNameBytesMax, "name"));
  if (name.empty()) {
    return cursor.error(Code::corrupt, start, "name is empty", std::string(kFetchAgain));
  }
  return std::string(name);
}

Result<std::vector<uint64_t>> read_shape(Cursor& cursor) {
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(const auto num_dims, cursor.read<uint32_t>("number of dimensions"));
  if (num_dims < 1 || num_dims > kDimsMax) {
    return cursor.error(Code::corrupt, start,
                        fmt::format("has {} dimensions, 1 to {} are allowed", num_dims, kDimsMax),
                        std::string(kFetchAgain));
  }
  std::vector<uint64_t> shape(num_dims);
  for (uint64_t& dim : shape) {
    const size_t dim_offset = cursor.offset();
    ASSIGN_OR_RETURN(dim, cursor.read<uint64_t>("dimension"));
    if (dim == 0) {
      return cursor.error(Code::corrupt, dim_offset, "dimension is 0", std::string(kFetchAgain));
    }
  }
  return shape;
}

Result<DType> read_dtype(Cursor& cursor) {
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(const auto id, cursor.read<uint32_t>("type"));
  if (const auto dtype = dtype_from_id(id)) return *dtype;
  if (is_retired(id)) {
    return cursor.error(Code::unsupported, start, fmt::format("type {} was given up by ggml", id),
                        "fetch or make a file with another quantisation");
  }
  return cursor.error(Code::unsupported, start, fmt::format("type {} is unknown", id),
                      "the file may be made for a later version, or be damaged");
}

// Bytes of a tensor of `shape`, or nothing on overflow. Rows are whole blocks.
bool size_of(std::span<const uint64_t> shape, const DTypeInfo& type, uint64_t& size_bytes) {
  uint64_t elements = 1;
  for (const uint64_t dim : shape) {
    if (__builtin_mul_overflow(elements, dim, &elements)) return false;
  }
  return !__builtin_mul_overflow(elements / type.block_size, uint64_t{type.block_bytes},
                                 &size_bytes);
}

Result<uint64_t> checked_size(const Tensor& tensor, const Described& at, const Cursor& cursor) {
  const DTypeInfo& type = info(tensor.dtype);
  if (tensor.shape[0] % type.block_size != 0) {
    return cursor.error(
        Code::corrupt, at.description_offset,
        fmt::format("shape {} has rows of {} values, {} needs a multiple of {}",
                    shape_text(tensor.shape), tensor.shape[0], type.name, type.block_size));
  }
  uint64_t size_bytes = 0;
  if (!size_of(tensor.shape, type, size_bytes)) {
    return cursor.error(Code::corrupt, at.description_offset,
                        fmt::format("shape {} is too large to count", shape_text(tensor.shape)),
                        std::string(kFetchAgain));
  }
  return size_bytes;
}

Result<Described> read_description(Cursor& cursor, uint64_t index, uint64_t alignment) {
  Described described;
  described.description_offset = cursor.offset();
  Tensor& tensor = described.tensor;
  ASSIGN_OR_RETURN(tensor.name, read_name(cursor, index));
  cursor.set_item(item_text(tensor));
  ASSIGN_OR_RETURN(tensor.shape, read_shape(cursor));
  ASSIGN_OR_RETURN(tensor.dtype, read_dtype(cursor));
  ASSIGN_OR_RETURN(described.size_bytes, checked_size(tensor, described, cursor));
  const size_t start = cursor.offset();
  ASSIGN_OR_RETURN(described.data_offset, cursor.read<uint64_t>("data offset"));
  if (described.data_offset % alignment != 0) {
    return cursor.error(Code::corrupt, start,
                        fmt::format("data offset {} is not a multiple of the alignment, {}",
                                    described.data_offset, alignment),
                        std::string(kFetchAgain));
  }
  return described;
}

// Points the tensor at its bytes. `data_start` may lie past the end of a file that was cut there.
Status locate(Described& described, uint64_t data_start, std::span<const std::byte> file,
              Cursor& cursor) {
  Tensor& tensor = described.tensor;
  cursor.set_item(item_text(tensor));
  uint64_t end = 0;
  const bool overflows =
      __builtin_add_overflow(data_start, described.data_offset, &tensor.file_offset) ||
      __builtin_add_overflow(tensor.file_offset, described.size_bytes, &end);
  if (overflows) {
    return cursor.error(Code::corrupt, described.description_offset,
                        fmt::format("data offset {} is too large", described.data_offset),
                        std::string(kFetchAgain));
  }
  if (end > file.size()) {
    return cursor.error(Code::corrupt, described.description_offset,
                        fmt::format("ends at byte {}, the file has {}", end, file.size()),
                        "the download is cut short: fetch the file again");
  }
  tensor.bytes = file.subspan(tensor.file_offset, described.size_bytes);
  return {};
}

Status check_apart(std::span<const Described> all, Cursor& cursor) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(all[i].tensor.file_offset, i); });
  for (size_t i = 1; i < order.size(); ++i) {
    const Tensor& before = all[order[i - 1]].tensor;
    const Tensor& tensor = all[order[i]].tensor;
    const uint64_t before_end = before.file_offset + before.bytes.size();
    if (before_end <= tensor.file_offset) continue;
    cursor.set_item(item_text(tensor));
    return cursor.error(Code::corrupt, all[order[i]].description_offset,
                        fmt::format("data starts at byte {}, inside tensor '{}' that ends at {}",
                                    tensor.file_offset, printable(before.name), before_end),
                        std::string(kFetchAgain));
  }
  return {};
}

Status check_unique(std::span<const Described> all, Cursor& cursor) {
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto name_of = [&](size_t i) -> std::string_view { return all[i].tensor.name; };
  std::ranges::sort(order, {}, [&](size_t i) { return std::pair(name_of(i), i); });
  const auto twin = std::ranges::adjacent_find(order, {}, name_of);
  if (twin == order.end()) return {};
  cursor.set_item(item_text(all[*twin].tensor));
  return cursor.error(
      Code::corrupt, all[*std::next(twin)].description_offset,
      fmt::format("name occurs twice, first at offset {}", all[*twin].description_offset));
}

}  // namespace

Result<std::vector<Tensor>> read_tensors(Cursor& cursor, uint64_t count, uint64_t alignment,
                                         std::span<const std::byte> file) {
  std::vector<Described> all;
  all.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(auto described, read_description(cursor, i, alignment));
    all.push_back(std::move(described));
  }
  const uint64_t data_start = (cursor.offset() + alignment - 1) / alignment * alignment;
  for (Described& described : all) {
    RETURN_IF_ERROR(locate(described, data_start, file, cursor));
  }
  RETURN_IF_ERROR(check_unique(all, cursor));
  RETURN_IF_ERROR(check_apart(all, cursor));
  std::vector<Tensor> tensors;
  tensors.reserve(count);
  for (Described& described : all) tensors.push_back(std::move(described.tensor));
  cursor.set_item({});
  return tensors;
}

}  // namespace evener::gguf
