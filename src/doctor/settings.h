#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "host/facts.h"

namespace evener::doctor {

// The value of a kernel option or module parameter; empty: not known.
std::optional<std::string_view> setting(const std::vector<host::Setting>& settings,
                                        std::string_view name);

bool is_off(std::string_view value);  // "n", "N", "0", "no", "off"

}  // namespace evener::doctor
