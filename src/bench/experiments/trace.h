#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/record.h"

namespace evener::bench {

// One request of a trace of arrivals.
struct TraceRequest {
  Nanoseconds at{0};  // since the first
  uint32_t num_tokens_in = 0;
  uint32_t num_tokens_out = 0;
  // What blocks its prompt begins with: requests with equal leading ids share as many blocks.
  std::vector<uint64_t> blocks;
};

// JSON lines, in order of time, as the Mooncake traces have them:
//   {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}
// with the time in milliseconds; hash_ids may be missing. Errors name the line: corrupt,
// limit_exceeded; not_found and the like for the file.
Result<std::vector<TraceRequest>> read_trace(const std::filesystem::path& path);

// The same of a text. `where` names it.
Result<std::vector<TraceRequest>> parse_trace(std::string_view text, std::string_view where);

}  // namespace evener::bench
