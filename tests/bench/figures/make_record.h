#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/record.h"

namespace evener::bench {

inline Nanoseconds at_ms(double ms) { return Nanoseconds(int64_t(ms * 1e6)); }

// An answer sent at `sent_ms` whose events came at `events_ms`, one token each, and which ended
// 1 ms after the last; the server counted 100 tokens of prompt, none cached.
inline RequestRecord make_record(std::string cell, double sent_ms,
                                 const std::vector<double>& events_ms) {
  RequestRecord r;
  r.cell = std::move(cell);
  r.label = "user 0";
  r.sent = at_ms(sent_ms);
  r.header = at_ms(sent_ms + 1);
  for (const double ms : events_ms) {
    r.events.push_back({.at = at_ms(ms), .num_tokens = 1, .num_bytes = 4});
  }
  r.ended = at_ms(events_ms.empty() ? sent_ms + 1 : events_ms.back() + 1);
  r.http_status = 200;
  r.done_seen = true;
  r.finish = Finish::length;
  r.num_tokens_in = 100;
  r.num_tokens_cached = 0;
  r.num_tokens_out = events_ms.size();
  return r;
}

}  // namespace evener::bench
