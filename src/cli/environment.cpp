#include "cli/environment.h"

#include <cstdlib>

namespace evener::cli {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path state_folder() {
  // Relative values count as unset: the XDG specification says so.
  std::filesystem::path base = environment("XDG_STATE_HOME");
  if (!base.is_absolute()) {
    const std::filesystem::path home = environment("HOME");
    if (!home.is_absolute()) return {};
    base = home / ".local" / "state";
  }
  return base / "evener";
}

}  // namespace evener::cli
