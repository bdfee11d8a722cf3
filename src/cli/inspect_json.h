#pragma once

#include <string>

#include "gguf/file.h"

namespace evener::cli {

// All that a model file says, as one JSON object:
//
//   file, files     the (first) path; all of them
//   size_bytes, version, alignment
//   summary         what inspect_text() shows, absent facts left out
//   metadata        every key with its value, in file order, arrays whole
//   tensors         name, type, shape (innermost first), offset and size in bytes, index of its
//   file
//
// Bytes that are not UTF-8 become U+FFFD; numbers that JSON cannot say (NaN, infinities) become
// null. Ends in a newline. Any thread. Judge: tests/cli/inspect_test.cpp.
std::string inspect_json(const gguf::File& file);

}  // namespace evener::cli
