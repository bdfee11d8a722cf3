#pragma once

#include <filesystem>

#include "base/error.h"
#include "cli/command_line.h"

namespace evener::cli {

// --store FILE, which every command of bench has that writes or reads results.
void add_store_option(CommandLine& line, std::filesystem::path& store);

// The file that is meant: `store` if it was named, else bench.sqlite in the user's data folder,
// which is made if need be. Errors: not_found (no home), permission_denied.
Result<std::filesystem::path> store_file(const std::filesystem::path& store);

}  // namespace evener::cli
