#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/record.h"

namespace evener::bench {

// The events of a request as bytes:
//
//     blob   = 0x01 event*                     0x01 is the version of the format
//     event  = time tokens bytes channel
//     time   = varint, nanoseconds since the event before (the first: since `sent`), zigzag coded
//     tokens, bytes = varint below 2^32
//     channel = one byte: 0 reasoning, 1 content, 2 tool
//     varint = seven bits a byte, low ones first; the top bit says that more follow
//
// Five to seven bytes an event, usually.
std::string encode_events(const std::vector<OutputEvent>& events, Nanoseconds sent);

// Errors (corrupt): anything else than the above, a time beyond kTimeMax. `where` names the row.
Result<std::vector<OutputEvent>> decode_events(std::string_view blob, Nanoseconds sent,
                                               std::string_view where);

// 73 years: a time in a store lies within this of the run's start, so that the difference of any
// two is a time.
inline constexpr Nanoseconds kTimeMax{int64_t{1} << 61};

}  // namespace evener::bench
