#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace evener::gguf {

// Why `bytes`, which do not start with "GGUF", are no model: what they look like (a safetensors
// file, an archive, a web page that was saved instead of the file, a git-lfs pointer, ...) and what
// to do. Code corrupt for damaged or unfinished files, unsupported for other formats.
Error not_gguf_error(std::span<const std::byte> bytes, std::string_view file);

}  // namespace evener::gguf
