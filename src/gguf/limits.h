#pragma once

#include <cstdint>

namespace evener::gguf {

// How much a file may ask for, whatever its size. Beyond these a file is not a model but an attack
// or rubbish: each default is at least ten times what the largest published models use.
struct Limits {
  uint64_t metadata_entries = 1 << 16;
  uint64_t tensors = 1 << 20;
  uint64_t string_bytes = 16 << 20;    // of one metadata string
  uint64_t array_elements = 16 << 20;  // of all arrays of a file together
  int array_depth = 4;                 // an array of numbers is 1 deep
  uint64_t parts = 1024;               // of a split file
};

}  // namespace evener::gguf
