#pragma once

namespace evener {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace evener

// Guards our own invariants; stays on in release builds. Must not be reachable from any input:
// files, requests and flags produce an Error instead.
#define EVENER_ASSERT(condition) \
  ((condition) ? void(0) : ::evener::assertion_failed(#condition, __FILE__, __LINE__))
