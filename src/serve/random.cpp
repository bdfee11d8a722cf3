#include "serve/random.h"

#include <sys/random.h>

#include <cerrno>

#include "base/assert.h"

namespace evener::serve {

uint64_t random_u64() {
  uint64_t value = 0;
  ssize_t got = -1;
  do {
    got = getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  EVENER_ASSERT(got == sizeof value);  // Linux never gives fewer for so small a request
  return value;
}

std::string random_id(std::string_view prefix) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string id(prefix);
  for (int part = 0; part < 2; ++part) {
    uint64_t bits = random_u64();
    for (int i = 0; i < 12; ++i) {  // 36^12 < 2^64
      id += kDigits[bits % kDigits.size()];
      bits /= kDigits.size();
    }
  }
  return id;
}

}  // namespace evener::serve
