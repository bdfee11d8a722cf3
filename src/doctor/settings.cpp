#include "doctor/settings.h"

#include <algorithm>
#include <array>

namespace evener::doctor {

std::optional<std::string_view> setting(const std::vector<host::Setting>& settings,
                                        std::string_view name) {
  const auto at = std::ranges::find(settings, name, &host::Setting::name);
  if (at == settings.end()) return {};
  return at->value;
}

bool is_off(std::string_view value) {
  static constexpr std::array<std::string_view, 5> kOff = {"n", "N", "0", "no", "off"};
  return std::ranges::find(kOff, value) != kOff.end();
}

}  // namespace evener::doctor
