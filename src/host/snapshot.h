#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "host/facts.h"

namespace evener::host {

// The texts of reference/host/snapshot-format.md, section 1, by their name in the snapshot's folder
// ("sysfs.tsv", "tools/nvidia-topo-m.txt"). Files that a capture could not read are absent. What
// the live machine gives has the same shape, so both are read by the same parsers.
struct Snapshot {
  std::map<std::string, std::string, std::less<>> files;
  std::string origin;  // for messages: a path, "this machine", "pasted text"
};

// What the MANIFEST of pasted text says: there a file's absence and a list's end mean little.
inline constexpr std::string_view kPastedFormat = "pasted text";

// Everything that the texts say. Never fails on missing or damaged files: what could not be read is
// in `missing`, what two files say differently in `contradictions`. Errors: corrupt, if there is no
// file of which anything could be read; limit_exceeded (more functions than any machine has).
Result<HostFacts> facts_of(const Snapshot& snapshot);

// What somebody pasted: `lspci -vvv`, `-tv`, `-nn` and kernel log lines, in any order, with prompts
// and other text between them, as the files of a snapshot. Errors: corrupt, if there is none of it.
Result<Snapshot> snapshot_of_text(std::string_view text, std::string origin);

}  // namespace evener::host
