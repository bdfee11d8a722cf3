#pragma once

#include <chrono>
#include <span>

#include "bench/finding.h"
#include "bench/record.h"

namespace evener::bench {

// An answer without fault: `num_tokens` of as many events, one each 10 ms after 50 ms, to a cold
// prompt of 100 tokens.
inline RequestRecord good_record(uint32_t num_tokens = 64) {
  using namespace std::chrono_literals;
  RequestRecord r;
  r.cell = "cell";
  r.label = "user 1";
  r.num_tokens_in_wanted = 100;
  r.num_tokens_out_wanted = num_tokens;
  r.sent = 1s;
  r.header = 1040ms;
  for (uint32_t i = 0; i < num_tokens; ++i) {
    r.events.push_back({.at = 1050ms + i * 10ms, .num_tokens = 0, .num_bytes = 4});
  }
  r.ended = 1050ms + num_tokens * 10ms;
  r.http_status = 200;
  r.done_seen = true;
  r.finish = Finish::length;
  r.num_tokens_in = 100;
  r.num_tokens_cached = 0;
  r.num_tokens_out = num_tokens;
  return r;
}

inline const Finding* find(std::span<const Finding> findings, Fault fault) {
  for (const Finding& finding : findings) {
    if (finding.fault == fault) return &finding;
  }
  return nullptr;
}

}  // namespace evener::bench
