#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace evener {

// Puts `bytes` into a file that this user alone can read, in one step: whoever looks sees the whole
// file or the one that was there. `doing` is for the message: "write snapshot". Errors: not_found
// (no such folder), permission_denied, unavailable (the system's words).
Status write_private_file(const std::filesystem::path& path, std::string_view bytes,
                          std::string_view doing);

}  // namespace evener
