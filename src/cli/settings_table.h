#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sample/params.h"

namespace evener::cli {

// The settings that a chat can change while it runs, one line each.
std::string show_settings(const sample::Params& params, size_t max_tokens);

// Sets the one called `name` and returns the line to print: its new value, or why not.
std::string change_setting(sample::Params& params, size_t& max_tokens, std::string_view name,
                           std::string_view value);

}  // namespace evener::cli
