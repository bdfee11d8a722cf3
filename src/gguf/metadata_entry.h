#pragma once

#include <string_view>

#include "gguf/value.h"

namespace evener::gguf {

struct MetadataEntry {
  std::string_view key;
  Value value;
};

}  // namespace evener::gguf
