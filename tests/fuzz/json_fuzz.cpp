// Any bytes as JSON, here and in the library that the documents are made for: what is read here is
// read there, to the same document, and the other way round but for what is said below. Seeds:
// tests/data/fuzz/json.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/assert.h"
#include "base/json.h"

namespace {

// The library ends at a NUL byte, and takes numbers that are nearly 0 for 0.
bool may_differ(std::string_view text) {
  return text.find('\0') != std::string_view::npos || text.find('.') != std::string_view::npos ||
         text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ours = evener::json::parse(text, "fuzz");
  const auto theirs = nlohmann::json::parse(text, nullptr, false);
  if (ours) {
    EVENER_ASSERT(!theirs.is_discarded());
    EVENER_ASSERT(*ours == theirs);
    EVENER_ASSERT(ours->type() == theirs.type());
  } else if (ours.error().why.starts_with("is not valid JSON")) {
    EVENER_ASSERT(theirs.is_discarded() || may_differ(text));
  }
  return 0;
}
