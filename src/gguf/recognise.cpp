#include "gguf/recognise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace evener::gguf {
namespace {

using namespace std::literals;

struct Format {
  std::string_view magic;
  std::string_view why;
  std::string_view remedy;
};

constexpr std::string_view kConvert = "convert it to GGUF, or fetch a GGUF of the model";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kTooOld =
    "fetch a GGUF of the model: this format was given up in August 2023";

constexpr Format kFormats[] = {
    {"PK\x03\x04"sv, "is a zip archive (PyTorch checkpoints are), not GGUF", kConvert},
    {"\x1f\x8b"sv, "is compressed with gzip", kUnpack},
    {"\x28\xb5\x2f\xfd"sv, "is compressed with zstd", kUnpack},
    {"\xfd"
     "7zXZ\0"sv,
     "is compressed with xz", kUnpack},
    {"7z\xbc\xaf\x27\x1c"sv, "is a 7z archive", kUnpack},
    {"\x80\x02"sv, "is a Python pickle, not GGUF", kConvert},
    {"\x93NUMPY"sv, "is a NumPy array, not GGUF", {}},
    {"\x7f"
     "ELF"sv,
     "is a program, not GGUF",
     {}},
    {"lmgg"sv, "is in the old GGML format", kTooOld},
    {"fmgg"sv, "is in the old GGMF format", kTooOld},
    {"tjgg"sv, "is in the old GGJT format", kTooOld},
    {"version https://git-lfs"sv, "is a git-lfs pointer, not the file itself",
     "fetch the file itself with 'git lfs pull' or from the model's page"},
};

constexpr std::string_view kWebPageRemedy =
    "the download led to a page about the file: use the link of the file itself";

std::string_view head_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 64)};
}

bool is_web_page(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n\xef\xbb\xbf"), head.size()));
  const auto starts_with = [&](std::string_view tag) {
    return head.size() >= tag.size() && strncasecmp(head.data(), tag.data(), tag.size()) == 0;
  };
  return starts_with("<!doctype") || starts_with("<html") || starts_with("<?xml");
}

// A length of 8 bytes that fits the file, then a JSON object.
bool is_safetensors(std::span<const std::byte> bytes) {
  if (bytes.size() < 10 || bytes[8] != std::byte{'{'}) return false;
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  return length <= bytes.size() - 8;
}

Error make_error(Code code, std::string_view file, std::string why, std::string_view remedy) {
  return {.code = code,
          .doing = "load model",
          .where = std::string(file),
          .why = std::move(why),
          .remedy = std::string(remedy)};
}

}  // namespace

Error not_gguf_error(std::span<const std::byte> bytes, std::string_view file) {
  const std::string_view head = head_of(bytes);
  if (head.empty()) {
    return make_error(Code::corrupt, file, "is empty", "the download failed: fetch it again");
  }
  for (const Format& format : kFormats) {
    if (head.starts_with(format.magic)) {
      return make_error(Code::unsupported, file, std::string(format.why), format.remedy);
    }
  }
  if (is_safetensors(bytes)) {
    return make_error(Code::unsupported, file, "is a safetensors file, not GGUF", kConvert);
  }
  if (is_web_page(head)) {
    return make_error(Code::corrupt, file, "is a web page, not a model", kWebPageRemedy);
  }
  if (head.find_first_not_of('\0') == std::string_view::npos) {
    return make_error(Code::corrupt, file, "starts with zeros",
                      "the download is unfinished: fetch it again");
  }
  const auto shown = bytes.first(std::min<size_t>(bytes.size(), 4));
  return make_error(Code::unsupported, file,
                    fmt::format("is no GGUF file: it starts with {:02x}, not with 47 47 55 46",
                                fmt::join(shown, " ")),
                    {});
}

}  // namespace evener::gguf
