#pragma once

#include <filesystem>
#include <string>

namespace evener {

// A variable of the environment that other programs agree on (NO_COLOR, LANG, XDG_STATE_HOME);
// empty if it is not set. What is Evener's own to say is an option.
std::string environment(const char* name);

// Where a user's programs keep what is theirs, by the XDG specification; empty if there is no home.
// None need exist yet.
std::filesystem::path state_folder();  // $XDG_STATE_HOME/evener, ~/.local/state/evener
std::filesystem::path data_folder();   // $XDG_DATA_HOME/evener, ~/.local/share/evener
std::filesystem::path cache_folder();  // $XDG_CACHE_HOME/evener, ~/.cache/evener

}  // namespace evener
