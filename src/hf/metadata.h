#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/header.h"

namespace evener::hf {

// The metadata of one family: keys behind its name.
class Metadata {
 public:
  Metadata(gguf::Header& header, std::string_view family) : header_(header), family_(family) {}

  void set(std::string_view key, uint64_t number) {
    header_.set(full(key), static_cast<uint32_t>(number));
  }
  void set_float(std::string_view key, double number) {
    header_.set(full(key), static_cast<float>(number));
  }
  void set_text(std::string_view key, std::string_view text) { header_.set(full(key), text); }
  template <class Numbers>
  void set_array(std::string_view key, const Numbers& numbers) {
    header_.set_array(full(key), numbers);
  }
  void set_flags(std::string_view key, const std::vector<bool>& flags) {
    const std::vector<std::byte> bytes = bytes_of(flags);
    header_.set(full(key),
                gguf::Value(gguf::ValueType::array, gguf::Array(gguf::ValueType::boolean, bytes)));
  }

 private:
  static std::vector<std::byte> bytes_of(const std::vector<bool>& flags) {
    std::vector<std::byte> bytes;
    for (const bool flag : flags) bytes.push_back(std::byte{flag});
    return bytes;
  }
  std::string full(std::string_view key) const { return fmt::format("{}.{}", family_, key); }

  gguf::Header& header_;
  std::string_view family_;
};

}  // namespace evener::hf
