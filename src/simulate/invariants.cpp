#include "simulate/invariants.h"

#include <fmt/format.h>

namespace evener::simulate {

const std::array<InvariantText, kNumInvariants> kInvariants = {{
    {"S1", "pages and slots: used, evictable and free are all there are"},
    {"S2", "nobody writes a page or state slot that somebody else uses"},
    {"S3", "when all have ended nothing is locked"},
    {"S4", "places are limited, and every sequence is in one queue"},
    {"S5", "no row is issued that has no page or no state slot"},
    {"S6", "the tokens of an answer are those without cache, batch and chunks"},
    {"S7", "pages and recurrent states hold what their tokens say"},
    {"S8", "a match never crosses a salt, and never exceeds what was read"},
    {"L1", "every sequence ends"},
    {"L2", "no gap between tokens exceeds the bound, no step before streams its target"},
    {"L3", "a prompt that has a place gets its turn in time"},
    {"L4", "no turn is empty while something could run"},
    {"L5", "whoever fits gets a place with the next turn of prompts"},
    {"L6", "0 is prompts first; a larger N or target never makes the largest gap smaller"},
    {"L7", "one prompt makes as many gaps as it has chunks"},
    {"L8", "clients that always wait get equal service"},
    {"L9", "streams get their share of the time while prompts are read"},
    {"E1", "a turn that only appends computes what is appended"},
    {"E2", "sessions that take turns on too few places are restored, not read again"},
    {"E3", "a second branch computes its own tokens only"},
    {"E4", "nothing runs for a sequence that was cancelled"},
    {"E5", "with room for all, hardly more is computed than has to be"},
}};

void Verdict::add(const Verdict& other) {
  for (size_t i = 0; i < kNumInvariants; ++i) num_checks_[i] += other.num_checks_[i];
  if (!breach_) breach_ = other.breach_;
}

std::string to_string(const Breach& breach) {
  const InvariantText& text = text_of(breach.invariant);
  return fmt::format("{}: {}: {}, at {:.3f} s", text.name, text.promise, breach.what,
                     sched::seconds(breach.at));
}

}  // namespace evener::simulate
