#pragma once

#include <string>

namespace evener::cli {

// A variable of the environment that other programs agree on (NO_COLOR, LANG, XDG_STATE_HOME);
// empty if it is not set. What is Evener's own to say is an option.
std::string environment(const char* name);

}  // namespace evener::cli
