#pragma once

#include <cstddef>
#include <string>

#include "gguf/file.h"

namespace evener::cli {

struct InspectOptions {
  bool tensors = false;  // list every tensor
  size_t width = 0;      // lines longer than this many characters are cut; 0: none is
};

// The facts of a model file for people, "unknown" where the file says nothing. Ends in a newline.
// Control characters and bytes that are not UTF-8 in the file's texts are made visible. Any thread.
// Judge: tests/cli/inspect_test.cpp.
std::string inspect_text(const gguf::File& file, const InspectOptions& options);

}  // namespace evener::cli
