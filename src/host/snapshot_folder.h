#pragma once

#include <filesystem>

#include "base/error.h"
#include "host/snapshot.h"

namespace evener::host {

// A snapshot out of a folder: all regular files in it, two folders deep. A folder around all of it
// is taken off. Errors: as std::filesystem gives them for the folder; corrupt (a file that is a
// link, a pipe or a device, by name; none of a snapshot's files), limit_exceeded.
Result<Snapshot> read_snapshot_folder(const std::filesystem::path& folder);

}  // namespace evener::host
