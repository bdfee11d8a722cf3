#include "tensor/npy.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace evener {
namespace {

constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
constexpr size_t kHeaderUnit = 64;  // data start on a multiple of it
constexpr size_t kElementsMax = size_t{1} << 32;

Error npy_error(Code code, const char* doing, const std::filesystem::path& path, std::string why) {
  return {
      .code = code, .doing = doing, .where = path.string(), .why = std::move(why), .remedy = {}};
}

std::string header(size_t rows, size_t cols) {
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
  const size_t prefix = kMagic.size() + 2;
  const size_t size =
      (prefix + text.size() + 1 + kHeaderUnit - 1) / kHeaderUnit * kHeaderUnit - prefix;
  text.resize(size - 1, ' ');
  text += '\n';
  std::string out(kMagic);
  out += static_cast<char>(size & 0xff);
  out += static_cast<char>(size >> 8);
  return out + text;
}

// The number behind `text`, which is cut to what follows it; nothing if there is none.
bool take_number(std::string_view& text, size_t& value) {
  const size_t start = text.find_first_not_of(" (,");
  if (start == std::string_view::npos) return false;
  const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), value);
  if (error != std::errc() || value > kElementsMax) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

Result<void> write_npy(const std::filesystem::path& path, size_t rows, size_t cols,
                       std::span<const float> values) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             std::fclose);
  const auto failed = [&](int error_number) {
    const Code code = error_number == EACCES   ? Code::permission_denied
                      : error_number == ENOENT ? Code::not_found
                                               : Code::unavailable;
    return npy_error(code, "write file", path, std::strerror(error_number));
  };
  if (!file) return failed(errno);
  const std::string head = header(rows, cols);
  if (std::fwrite(head.data(), 1, head.size(), file.get()) != head.size()) return failed(errno);
  if (std::fwrite(values.data(), sizeof(float), values.size(), file.get()) != values.size())
    return failed(errno);
  if (std::fflush(file.get()) != 0) return failed(errno);
  return {};
}

Result<NpyMatrix> read_npy(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  const auto corrupt = [&](const char* why) {
    return npy_error(Code::corrupt, "read array", path, why);
  };
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 2)
    return corrupt("is not an .npy file of version 1.0");
  const size_t header_size =
      static_cast<unsigned char>(text[8]) + size_t{256} * static_cast<unsigned char>(text[9]);
  const size_t data_start = kMagic.size() + 2 + header_size;
  if (data_start > text.size()) return corrupt("ends inside its header");
  const std::string_view head = text.substr(10, header_size);
  if (head.find("'<f4'") == std::string_view::npos ||
      head.find("False") == std::string_view::npos) {
    return npy_error(Code::unsupported, "read array", path, "is not float32 in C order");
  }
  const size_t shape_start = head.find("'shape':");
  if (shape_start == std::string_view::npos) return corrupt("has no shape");
  std::string_view shape = head.substr(shape_start + 8);
  NpyMatrix matrix;
  if (!take_number(shape, matrix.rows) || !take_number(shape, matrix.cols))
    return corrupt("is not a matrix");
  if (matrix.rows * matrix.cols != (text.size() - data_start) / sizeof(float))
    return corrupt("has not as many values as its shape says");
  matrix.values.resize(matrix.rows * matrix.cols);
  std::memcpy(matrix.values.data(), text.data() + data_start, matrix.values.size() * sizeof(float));
  return matrix;
}

}  // namespace evener
