#pragma once

#include <string_view>

namespace evener {

extern const std::string_view kVersion;  // "0.1.0"
extern const std::string_view
    kCommit;  // of the sources when they were configured; "unknown" without git

}  // namespace evener
