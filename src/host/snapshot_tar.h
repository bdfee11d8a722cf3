#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "host/snapshot.h"

namespace evener::host {

// A snapshot out of the bytes of a tar or tar.gz, which may come from anybody: nothing is unpacked
// to disk. A folder around all of it is taken off. Errors: corrupt (damaged; a member that is a
// link or a device, is absolute, leads out of its folder or is in it twice, by name),
// limit_exceeded (too many, too large, packed more than once), as snapshot_files.h has it.
Result<Snapshot> read_snapshot_tar(std::string_view bytes, std::string origin);

// The bytes of a tar.gz with all files below "p2p-snapshot/". The same snapshot gives the same
// bytes. Errors: out_of_memory.
Result<std::string> snapshot_tar(const Snapshot& snapshot);

}  // namespace evener::host
