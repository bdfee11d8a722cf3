#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "host/facts.h"

namespace evener::cli {

// The facts that `evener doctor` found on this machine, kept for --verify: one file a start of the
// machine (by the kernel's boot id), in evener/doctor below XDG_STATE_HOME or ~/.local/state. Only
// the owner can read them; the last ten starts are kept.
struct SavedFacts {
  host::HostFacts facts;
  std::filesystem::path path;
};

// Replaces those of the present start. The result is where they are. Errors: permission_denied,
// not_found (there is no home folder).
Result<std::filesystem::path> save_facts(const host::HostFacts& facts);

// Those of the latest start before the present one; if there are none, of the present one. Errors:
// not_found, if none were ever saved; those of facts_from_json.
Result<SavedFacts> earlier_facts();

}  // namespace evener::cli
