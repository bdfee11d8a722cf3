#pragma once

#include <string_view>

namespace evener::doctor {

// Does a report of how a machine behaves tell of hangs, resets or the like?
bool tells_of_hangs(std::string_view stability);

}  // namespace evener::doctor
