#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "host/snapshot.h"

// What the files of a snapshot may be called and how large they may be, wherever they come from: a
// folder, an archive, the live machine.

namespace evener::host {

// A machine with 256 functions and all of their config space as text needs 6 MiB.
inline constexpr size_t kSnapshotFilesMax = 512;
inline constexpr size_t kSnapshotFileBytesMax = size_t{64} << 20;
inline constexpr size_t kSnapshotBytesMax = size_t{128} << 20;

// One of the names that snapshot-format.md, section 1, gives a meaning.
bool is_known_file(std::string_view name);

// `name` without "./" in front and in between and without doubled slashes, '?' for what is not
// ASCII. Errors: corrupt, if it
// is empty, absolute, goes up ("..") or holds control characters. `where` names the archive.
Result<std::string> checked_name(std::string_view name, const std::string& where);

// Adds a file as plain_text() makes it. Errors: limit_exceeded (too many, too large), corrupt (the
// name is there already).
Status add_file(Snapshot& snapshot, std::string name, std::string bytes);

// Takes off a folder that all names share, as archives have one around everything.
void strip_top_folder(Snapshot& snapshot);

// Errors: corrupt, if none of the files is one that has a meaning.
Status check_is_snapshot(const Snapshot& snapshot);

}  // namespace evener::host
