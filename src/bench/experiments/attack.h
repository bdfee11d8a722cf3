#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/record.h"

namespace evener::bench {

// What an attack did to a victim, from the records alone.
struct AttackFigures {
  std::vector<double> gaps_ms;  // between events, of those that touch the attack, in order
  double gap_max_ms = 0;
  double gap_median_ms = 0;
  // Of the victim during the attack. Where it is not told which event had how many tokens, and
  // nearly all had one, each counts as the mean of them all; else absent.
  std::optional<double> tokens_per_s;
};

// From the first byte of the first attacker to its first token; of several, to the last one's.
struct AttackWindow {
  Nanoseconds began{0};
  Nanoseconds ended{0};
};

AttackFigures attack_figures(const RequestRecord& victim, const AttackWindow& attack);

// Without a bound on stalls a prompt of P tokens freezes what runs once a chunk:
//     gaps = ceil(P / chunk), each as long as the chunk takes
struct ExpectedGaps {
  uint64_t num_gaps = 0;
  double gap_ms = 0;  // mean: later chunks take longer than the first
};
ExpectedGaps expected_gaps(uint64_t num_tokens, uint64_t chunk_tokens, double ttft_alone_ms);

// Those at least half as long as expected and longer than what is usual without an attack.
uint64_t num_gaps_like(const ExpectedGaps& expected, const std::vector<double>& gaps_ms,
                       double usual_ms);

}  // namespace evener::bench
