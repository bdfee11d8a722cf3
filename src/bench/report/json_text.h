#pragma once

#include <string>

#include "base/json.h"

namespace evener::bench {

enum class JsonLayout : uint8_t { lines, compact };

// Whatever bytes its strings hold: what is not UTF-8 is replaced. No "<", "&", U+2028 or U+2029 is
// in the text (they are written as \u....), so that it may stand inside a script element. Members
// are in order of their names, numbers that are not finite are null.
std::string json_text(const json::Value& value, JsonLayout layout);

}  // namespace evener::bench
