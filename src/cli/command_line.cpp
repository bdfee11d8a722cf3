#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>
#include <vector>

namespace evener::cli {
namespace {

// What the help calls a value of the type.
template <typename T>
constexpr const char* kTypeName = std::is_integral_v<T> ? "N" : "X";
template <>
constexpr const char* kTypeName<std::string> = "TEXT";
template <>
constexpr const char* kTypeName<std::filesystem::path> = "FILE";
template <>
constexpr const char* kTypeName<std::vector<std::string>> = "TEXT";
template <>
constexpr const char* kTypeName<std::vector<uint64_t>> = "N,...";
template <>
constexpr const char* kTypeName<std::vector<double>> = "X,...";

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::between(double low, double high) {
  option_->check(CLI::Range(low, high, fmt::format("{}..{}", low, high)));
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::in_bytes() {
  option_->transform(CLI::AsSizeValue(false).description(""))->type_name("BYTES");
  return *this;
}

Option& Option::from_environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

Option& Option::separated_by_commas() {
  option_->delimiter(',');
  return *this;
}

template <typename T>
Option CommandLine::add(const std::string& names, T& value, const std::string& help) {
  CLI::Option* option = nullptr;
  if constexpr (std::is_same_v<T, bool>) {
    option = app_.add_flag(names, value, help);
  } else {
    option = app_.add_option(names, value, help)->type_name(kTypeName<T>);
    bool has_default = true;
    if constexpr (requires { value.empty(); }) has_default = !value.empty();
    if constexpr (requires { value.has_value(); }) has_default = value.has_value();
    if (has_default) option->capture_default_str();
  }
  if (!group_.empty()) option->group(group_);
  return Option(option);
}

template Option CommandLine::add(const std::string&, bool&, const std::string&);
template Option CommandLine::add(const std::string&, std::string&, const std::string&);
template Option CommandLine::add(const std::string&, std::filesystem::path&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<std::string>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<uint64_t>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<double>&, const std::string&);
template Option CommandLine::add(const std::string&, std::optional<double>&, const std::string&);
template Option CommandLine::add(const std::string&, uint16_t&, const std::string&);
template Option CommandLine::add(const std::string&, uint32_t&, const std::string&);
template Option CommandLine::add(const std::string&, uint64_t&, const std::string&);
template Option CommandLine::add(const std::string&, int32_t&, const std::string&);
template Option CommandLine::add(const std::string&, float&, const std::string&);
template Option CommandLine::add(const std::string&, double&, const std::string&);

}  // namespace evener::cli
