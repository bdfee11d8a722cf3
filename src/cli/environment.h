#pragma once

#include <filesystem>
#include <string>

namespace evener::cli {

// A variable of the environment that other programs agree on (NO_COLOR, LANG, XDG_STATE_HOME);
// empty if it is not set. What is Evener's own to say is an option.
std::string environment(const char* name);

// The folder for what a user's programs keep between runs: $XDG_STATE_HOME/evener, else
// ~/.local/state/evener; empty if neither is known. It need not exist yet.
std::filesystem::path state_folder();

}  // namespace evener::cli
