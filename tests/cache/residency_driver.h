#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "cache/residency.h"
#include "fake_memory.h"

namespace evener::cache {

// Runs sequences on a Residency and a FakeMemory as an engine would, and counts everything again
// after each call.
class ResidencyDriver {
 public:
  struct Running {
    Newcomer newcomer;
    std::vector<TokenId> tokens;
    size_t num_computed = 0;
    std::vector<Transfer> loads;  // put off
  };

  explicit ResidencyDriver(const ResidencyOptions& options)
      : memory({options.page_size, options.num_pages, options.num_state_slots}),
        residency(options, &memory),
        has_states_(options.num_state_slots > 0) {}

  std::optional<Match> admit(const Newcomer& newcomer) {
    const Match expected = residency.match(newcomer);
    const size_t num_pages = expected.num_pages_to_lock + expected.num_pages_to_load;
    const size_t num_available = residency.num_pages_available();
    const bool fits = num_pages <= num_available && residency.num_slots_available() > 0;
    const auto match = residency.admit(newcomer);
    residency.check();
    EXPECT_EQ(match.has_value(), fits);
    if (!match) return match;
    EXPECT_EQ(match->num_tokens, expected.num_tokens);
    EXPECT_EQ(match->num_pages_to_load, expected.num_pages_to_load);
    EXPECT_EQ(match->loads_state, expected.loads_state);
    EXPECT_LT(match->num_tokens, newcomer.tokens.size());
    EXPECT_GE(residency.num_pages_available() + num_pages, num_available);
    running[newcomer.id] = {.newcomer = newcomer,
                            .tokens = newcomer.tokens,
                            .num_computed = match->num_tokens,
                            .loads = {}};
    return match;
  }

  // Carries out what is due. Loads are put off for as long as somebody wants.
  void take_transfers() {
    for (const Transfer& transfer : residency.take_transfers()) {
      if (transfer.is_load()) {
        running.at(transfer.sequence).loads.push_back(transfer);
      } else {
        ASSERT_TRUE(memory.carry_out(transfer));
      }
    }
  }

  // False: a load found nothing, and the sequence was released.
  bool load(SequenceId id) {
    for (const Transfer& transfer : std::exchange(running.at(id).loads, {})) {
      if (memory.carry_out(transfer)) continue;
      release(id);
      return false;
    }
    return true;
  }

  FakeMemory::Rows rows(SequenceId id, size_t position_end) {
    const Running& sequence = running.at(id);
    return {.salt = sequence.newcomer.salt,
            .tokens = sequence.tokens,
            .first = sequence.num_computed,
            .last = position_end,
            .pages = residency.pages(id),
            .slot = has_states_ ? residency.state_slot(id) : -1};
  }

  // One step with rows of one sequence up to `position_end`. False: no pages.
  bool step(SequenceId id, size_t position_end) {
    const size_t num_available = residency.num_pages_available();
    const bool covered = residency.cover(id, position_end);
    residency.check();
    if (!covered) {
      EXPECT_EQ(residency.num_pages_available(), num_available);
      return false;
    }
    take_transfers();
    memory.run(rows(id, position_end));
    running.at(id).num_computed = position_end;
    residency.computed(id, position_end);
    residency.check();
    return true;
  }

  // Reads the prompt, chunks ending where snapshots are due.
  bool read_prompt(SequenceId id) {
    take_transfers();
    if (!load(id)) return false;
    const Running& sequence = running.at(id);
    while (sequence.num_computed < sequence.tokens.size()) {
      const size_t cut = residency.next_cut(id, sequence.num_computed);
      if (!step(id, std::min(cut, sequence.tokens.size()))) return false;
    }
    return true;
  }

  void append(SequenceId id, TokenId token) {
    running.at(id).tokens.push_back(token);
    residency.append(id, token);
  }

  // Reads what was appended, one token a step.
  bool decode(SequenceId id, const std::vector<TokenId>& answer) {
    for (const TokenId token : answer) {
      append(id, token);
      if (!step(id, running.at(id).tokens.size())) return false;
    }
    return true;
  }

  void release(SequenceId id) {
    residency.release(id);
    running.erase(id);
    residency.check();
  }

  // A whole turn: the prompt, an answer, the end. Returns the match.
  Match turn(const Newcomer& newcomer, const std::vector<TokenId>& answer = {}) {
    const auto match = admit(newcomer);
    EXPECT_TRUE(match.has_value());
    EXPECT_TRUE(read_prompt(newcomer.id));
    EXPECT_TRUE(decode(newcomer.id, answer));
    release(newcomer.id);
    return *match;
  }

  FakeMemory memory;
  Residency residency;
  std::map<SequenceId, Running> running;

 private:
  bool has_states_;
};

}  // namespace evener::cache
