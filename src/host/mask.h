#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/snapshot.h"

// What tells one machine or one person from another is taken out of a snapshot before anybody sees
// it: MAC and other hardware addresses, UUIDs, serial numbers (as text, and the capability in the
// hex dump), host name, IPv4 addresses, home folders. What the diagnosis needs stays: names of
// boards and BIOS, ids, addresses of memory, versions.
// Source: reference/host/snapshot-format.md, section 5. Judge: tests/host/mask_test.

namespace evener::host {

// How often each kind was masked: "MAC address" -> 2.
using MaskCounts = std::map<std::string, size_t, std::less<>>;

// Masks every file in place. `host_names`: how the machine is called, whole words only; names that
// every log contains ("pci", "localhost") and those of less than three characters are left alone.
// Linear; masking again changes nothing.
MaskCounts mask(Snapshot& snapshot, const std::vector<std::string>& host_names);

// A token that looks as if it told one machine from another and is still there.
struct Identifier {
  std::string file;
  size_t line = 0;   // from 1
  std::string kind;  // "MAC address"
  std::string text;
};

// Looks with a wider net than mask() does, so that it can fail. At most `num_max`.
std::vector<Identifier> find_identifiers(const Snapshot& snapshot, size_t num_max = 10);

// Errors: unsupported, naming file and line of the first that find_identifiers() finds.
Status check_masked(const Snapshot& snapshot);

}  // namespace evener::host
