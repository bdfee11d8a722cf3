#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "bench/run.h"
#include "bench/store.h"

namespace evener::cli {

// The store that --store means: see store_file.
Result<bench::Store> open_store(const std::filesystem::path& store);

// The run of it that `words` mean: "last", an id or the beginning of one. Errors: those of Store.
Result<bench::Run> load_run(const std::filesystem::path& store, const std::string& words);

}  // namespace evener::cli
