#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace evener {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "evener: internal error: %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace evener
