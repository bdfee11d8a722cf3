#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "cache/residency.h"
#include "sched/client_shares.h"
#include "sched/step.h"
#include "sched/virtual_time.h"

namespace evener::sched {

// A sequence that wants to run.
struct Arrival {
  cache::Newcomer newcomer;       // its tokens are the prompt, >= 1
  size_t num_new_tokens_max = 0;  // 0: only the prompt is read
  bool prompt_logits = false;     // the logits of all prompt tokens are wanted
  ClientId client = 0;
  int priority = 0;  // the smaller go first among those of one client
  Time arrived{};
};

// What the scheduler knows of one sequence from its arrival to its end.
struct Sequence {
  Arrival arrival;        // newcomer.tokens grows by the answer
  size_t num_prompt = 0;  // of the tokens, those that came with the request

  Time queued{};                   // when it last joined the queue
  bool was_admitted = false;       // it is running, or was and has been sent back
  size_t num_matched = 0;          // of its tokens, those that came from the cache
  size_t num_to_read = 0;          // tokens known when it was admitted: what prompt slices cover
  size_t num_issued = 0;           // positions that steps have covered
  size_t num_in_flight = 0;        // steps that run and have rows of it
  bool token_known = false;        // the next decode row may be issued
  Time last_turn{};                // of its prompt; its admission, if it had none
  std::optional<Time> last_token;  // while it runs
  std::deque<cache::Transfer> restore;  // taken from Residency and put off

  SequenceId id() const { return arrival.newcomer.id; }
  const std::vector<cache::TokenId>& tokens() const { return arrival.newcomer.tokens; }
  size_t num_generated() const { return tokens().size() - num_prompt; }
  size_t num_new_left() const { return arrival.num_new_tokens_max - num_generated(); }
  // Of a step's rows up to there, the last one gives a token.
  bool gives_token_at(size_t position_end) const {
    return position_end >= num_to_read && arrival.num_new_tokens_max > 0;
  }

  bool reads_prompt() const { return num_issued < num_to_read; }
  // It gives tokens, or has just been read and is about to: it feels a stall from now on.
  bool is_stream() const { return !reads_prompt() && arrival.num_new_tokens_max > 0; }
};

}  // namespace evener::sched
