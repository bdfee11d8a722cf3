#pragma once

#include <cstdint>

namespace evener::safetensors {

// How much a folder may ask for, whatever its size. Beyond these it is not a model but an attack or
// rubbish.
struct Limits {
  uint64_t header_bytes = 100'000'000;  // of one file: what the format's own reader takes
  uint64_t index_bytes = 200'000'000;
  uint64_t config_bytes = 16 << 20;
  uint64_t tensors = 1 << 18;  // of one file
  uint64_t name_bytes = 1024;
  uint64_t dims = 8;
  uint64_t files = 4096;
};

}  // namespace evener::safetensors
