#pragma once

#include <chrono>
#include <cstdint>

namespace evener::serve {

// Now, as the "created" fields of the API have it: seconds since 1970.
inline int64_t unix_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace evener::serve
