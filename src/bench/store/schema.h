#pragma once

#include <filesystem>

#include "base/error.h"
#include "bench/store/database.h"

namespace evener::bench {

// What a store holds; docs/benchmarks.md describes it. A change of any statement needs another
// version, and stores of a later one are refused.
inline constexpr int64_t kSchemaVersion = 1;

// Opens a store; makes the file and its tables, even if several processes do it at a time. Every
// commit is on the disk when it returns. Errors: those of Database::open and check_schema.
Result<Database> open_store_to_write(const std::filesystem::path& file);

// The file has exactly the tables, indexes and triggers of a store, so that no statement of ours
// runs what somebody else wrote into it. Errors: corrupt, unsupported (a later version).
Status check_schema(Database& database);

}  // namespace evener::bench
