#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "host/facts.h"
#include "host/snapshot.h"

// The one door to the facts of a machine, whatever holds them. From any thread; each call reads
// afresh.

namespace evener::host {

// What `path` holds, told apart by its first bytes and not by its name:
//   a folder                   a snapshot as captured (snapshot-format.md, section 1)
//   a tar or tar.gz            the same, packed
//   text that begins with {    facts.json (section 4)
//   any other text             pasted lspci and kernel log lines, or one file of a snapshot
// Errors: not_found, permission_denied; corrupt, unsupported (another archive format),
// limit_exceeded, each naming the file, the member and what to do.
Result<HostFacts> read_facts(const std::filesystem::path& path);

// The same for bytes that are already there, as those of standard input. `where` is for messages.
Result<HostFacts> facts_of_bytes(std::string_view bytes, std::string where);

// This machine: reads only, wakes no sleeping device. Errors: not_found, where the kernel shows no
// PCI devices at all (a container without sysfs). What needs more rights is in `missing`.
Result<HostFacts> read_live();

// A folder, a tar or tar.gz, or text, but not facts.json (unsupported). Errors: as read_facts.
Result<Snapshot> read_snapshot(const std::filesystem::path& path);

}  // namespace evener::host
