#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/experiments/quality/judgement.h"

namespace evener::bench {

// A number said once, somewhere in a long text.
struct Needle {
  std::string place;  // "the harbour": what it is the number of
  uint32_t number = 0;
  unsigned depth_percent = 0;  // how far into the text it stands
};

// Needles of the seed at the depths given; places and numbers all differ.
std::vector<Needle> make_needles(uint64_t seed, std::span<const unsigned> depths_percent);

// `hay`, a message of Prompts, with each needle after the sentence that ends next behind its depth,
// and a question for all their numbers in place of the message's own request at the end.
std::string hide(std::span<const Needle> needles, std::string_view hay);

// Score: share of the numbers that the answer holds.
Judgement judge(std::span<const Needle> needles, std::string_view answer);

}  // namespace evener::bench
