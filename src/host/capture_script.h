#pragma once

#include <string_view>

namespace evener::host {

// scripts/capture.sh: writes a snapshot on machines without Evener.
std::string_view capture_script();

}  // namespace evener::host
