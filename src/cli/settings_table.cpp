#include "cli/settings_table.h"

#include <fmt/format.h>

#include <charconv>
#include <variant>
#include <vector>

#include "base/text.h"

namespace evener::cli {
namespace {

// Where a setting lives, and what it may be.
struct Setting {
  std::string_view name;
  std::variant<float*, int32_t*, uint64_t*> target;
  double min;
  double max;
};

std::vector<Setting> settings_of(sample::Params& params, uint64_t& max_tokens) {
  return {
      {"temperature", &params.temperature, 0, 10},
      {"top_k", &params.top_k, 0, 1e9},
      {"top_p", &params.top_p, 0, 1},
      {"min_p", &params.min_p, 0, 1},
      {"typical_p", &params.typical_p, 0, 1},
      {"repetition_penalty", &params.repetition_penalty, 0.01, 10},
      {"seed", &params.seed, 0, 1.8e19},
      {"max_tokens", &max_tokens, 0, 1e9},
  };
}

std::string line_of(const Setting& setting) {
  return std::visit(
      [&](const auto* target) { return fmt::format("{} = {}\n", setting.name, *target); },
      setting.target);
}

template <class T>
bool assign(T& target, std::string_view text, const Setting& setting) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  const auto number = static_cast<double>(value);
  if (!(number >= setting.min && number <= setting.max)) return false;
  target = value;
  return true;
}

}  // namespace

std::string show_settings(const sample::Params& params, size_t max_tokens) {
  sample::Params copy = params;
  uint64_t limit = max_tokens;
  std::string text;
  for (const Setting& setting : settings_of(copy, limit)) text += line_of(setting);
  return text;
}

std::string change_setting(sample::Params& params, size_t& max_tokens, std::string_view name,
                           std::string_view value) {
  uint64_t limit = max_tokens;
  for (const Setting& setting : settings_of(params, limit)) {
    if (setting.name != name) continue;
    const bool is_set =
        std::visit([&](auto* target) { return assign(*target, value, setting); }, setting.target);
    if (!is_set)
      return fmt::format("{} takes a number from {} to {}\n", name, setting.min, setting.max);
    max_tokens = limit;
    return line_of(setting);
  }
  return fmt::format("there is no setting {}; /set lists them\n", printable(name, 40));
}

}  // namespace evener::cli
