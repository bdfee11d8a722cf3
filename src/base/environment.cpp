#include "base/environment.h"

#include <cstdlib>

namespace evener {
namespace {

std::filesystem::path xdg_folder(const char* variable, const char* below_home) {
  // Relative values count as unset: the XDG specification says so.
  std::filesystem::path base = environment(variable);
  if (!base.is_absolute()) {
    const std::filesystem::path home = environment("HOME");
    if (!home.is_absolute()) return {};
    base = home / below_home;
  }
  return base / "evener";
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::filesystem::path state_folder() { return xdg_folder("XDG_STATE_HOME", ".local/state"); }

std::filesystem::path cache_folder() { return xdg_folder("XDG_CACHE_HOME", ".cache"); }

std::filesystem::path data_folder() { return xdg_folder("XDG_DATA_HOME", ".local/share"); }

}  // namespace evener
