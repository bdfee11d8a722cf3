// Any bytes as an importance matrix: it is refused, or all its values are finite and not negative.
// Seeds: tests/data/fuzz/imatrix.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "quantise/importance.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto importance = evener::quantise::Importance::parse(bytes, "fuzz");
  if (!importance) {
    EVENER_ASSERT(!importance.error().why.empty());
    return 0;
  }
  EVENER_ASSERT(importance->size() > 0);
  for (const char* const tensor : {"a", "a.weight", "b.weight"}) {
    for (const float value : importance->find(tensor)) {
      EVENER_ASSERT(std::isfinite(value) && value >= 0);
    }
  }
  return 0;
}
