// tokenizer_tool MODEL [--stats|--as-gguf]: of a GGUF file or a Hugging Face folder, for each line
// of hex bytes on stdin, the ids of that text on stdout, separated by spaces. A line that begins
// with "!" is encoded with special tokens parsed. With --stats the time of loading and the speed of
// encoding go to stderr; with --as-gguf a folder's tokenizer is what GGUF would say of it.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/load_tokenizer.h"
#include "gguf/file.h"
#include "gguf/header.h"
#include "hf/folder_tokenizer.h"
#include "hf/tokenizer_metadata.h"

namespace evener {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += char(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

struct Totals {
  size_t bytes = 0;
  size_t tokens = 0;
  double seconds = 0;
};

std::string encode_line(const tokenizer::Tokenizer& tokenizer, std::string_view line,
                        Totals& totals) {
  tokenizer::EncodeOptions options;
  if (line.starts_with('!')) {
    options.special = tokenizer::SpecialTokens::parse;
    line.remove_prefix(1);
  }
  const std::string text = from_hex(line);
  const auto start = Clock::now();
  const auto ids = tokenizer.encode(text, options);
  totals.seconds += seconds_since(start);
  totals.bytes += text.size();
  totals.tokens += ids.size();
  std::string out;
  for (const auto id : ids) {
    if (!out.empty()) out += ' ';
    out += fmt::format("{}", id);
  }
  return out;
}

Result<std::unique_ptr<tokenizer::Tokenizer>> load(const std::filesystem::path& path,
                                                   bool as_gguf) {
  if (as_gguf) {
    gguf::Header header;
    RETURN_IF_ERROR(hf::add_tokenizer_metadata(path, header));
    const std::vector<std::byte> bytes = header.encode();
    ASSIGN_OR_RETURN(const auto file, gguf::File::parse(bytes, path.string()));
    return engine::load_tokenizer(file);
  }
  if (std::filesystem::is_directory(path)) return hf::load_folder_tokenizer(path);
  ASSIGN_OR_RETURN(const auto file, gguf::File::open(path));
  return engine::load_tokenizer(file);
}

Result<int> run(const char* path, std::string_view option) {
  const auto start = Clock::now();
  ASSIGN_OR_RETURN(const auto tokenizer, load(path, option == "--as-gguf"));
  const double load_seconds = seconds_since(start);
  Totals totals;
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{}\n", encode_line(*tokenizer, line, totals));
  }
  if (option == "--stats") {
    fmt::print(stderr, "{} tokens loaded in {:.3f} s; {} bytes to {} ids at {:.1f} MB/s\n",
               tokenizer->size(), load_seconds, totals.bytes, totals.tokens,
               double(totals.bytes) / 1e6 / totals.seconds);
  }
  return 0;
}

}  // namespace
}  // namespace evener

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: tokenizer_tool MODEL [--stats|--as-gguf] < hex lines\n", stderr);
    return 2;
  }
  const auto status = evener::run(argv[1], argc > 2 ? argv[2] : "");
  if (status) return *status;
  fmt::print(stderr, "tokenizer_tool: {}\n", evener::to_string(status.error()));
  return 1;
}
