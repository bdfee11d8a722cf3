#include "cli/environment.h"

#include <cstdlib>

namespace evener::cli {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace evener::cli
