#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::bench {

struct MergeResult {
  std::vector<std::string> added;       // ids of runs
  std::vector<std::string> present;     // were in `into` before
  std::vector<std::string> unfinished;  // left out
};

// Adds the runs of store `from` to store `into`, each whole or not at all; those whose id `into`
// has are left as they are. One without an end may still grow, and a part of it would keep the rest
// out for ever, so those are taken only if asked for. Errors: those of Store and StoreRecorder;
// what was added before one stays.
enum class Unfinished : bool { leave, take };
Result<MergeResult> merge_stores(const std::filesystem::path& into,
                                 const std::filesystem::path& from, Unfinished unfinished);

}  // namespace evener::bench
