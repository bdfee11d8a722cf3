#pragma once

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cache/residency.h"
#include "sched/scheduler.h"

namespace evener::sched {

// A step in a line: "1p0+4 2d7+1!" is the first four tokens of 1's prompt and a decode row of 2;
// ! the last row's logits are wanted, * those of all rows; (load 2) and the like are transfers that
// come before.
inline std::string text(const Step& step) {
  using Kind = cache::Transfer::Kind;
  std::string out;
  const auto add = [&out](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
  size_t num_loads = 0;
  for (const cache::Transfer& transfer : step.transfers) num_loads += transfer.is_load() ? 1 : 0;
  if (num_loads > 0) add(fmt::format("(load {})", num_loads));
  for (const cache::Transfer& transfer : step.transfers) {
    if (transfer.kind == Kind::copy_state) add("(copy)");
  }
  for (const Slice& slice : step.slices) {
    const char* mark = slice.logits == Slice::Logits::last  ? "!"
                       : slice.logits == Slice::Logits::all ? "*"
                                                            : "";
    add(fmt::format("{}{}{}+{}{}", slice.sequence, slice.kind == Slice::Kind::prompt ? 'p' : 'd',
                    slice.first_position, slice.num_tokens, mark));
  }
  return out;
}

// A scheduler, its residency, a clock, and an engine that gives every sequence its tokens.
class Rig {
 public:
  struct Setup {
    SchedulerOptions scheduler;
    cache::ResidencyOptions residency = {.page_size = 4, .num_pages = 1000};
    const cache::StoredEntries* stored = nullptr;
  };
  explicit Rig(Setup setup)
      : residency(setup.residency, setup.stored), scheduler(on_grid(setup), residency) {}

  struct Ask {
    size_t prompt = 1;  // tokens, of which no other sequence has any
    size_t answer = 1;
    ClientId client = 0;
    int priority = 0;
    bool prompt_logits = false;
  };
  Added ask(SequenceId id, const Ask& ask) {
    Arrival arrival;
    arrival.newcomer.id = id;
    arrival.newcomer.tokens.assign(ask.prompt, static_cast<cache::TokenId>(id));
    arrival.num_new_tokens_max = ask.answer;
    arrival.prompt_logits = ask.prompt_logits;
    arrival.client = ask.client;
    arrival.priority = ask.priority;
    arrival.arrived = now;
    const Added added = scheduler.add(std::move(arrival));
    if (added.outcome == AddOutcome::queued) left[id] = ask.answer;
    return added;
  }

  // Chooses a step and runs it.
  std::string turn(Duration took = std::chrono::milliseconds(1)) {
    const Step step = scheduler.next_step(now);
    if (!step.empty()) finish(step, took);
    return text(step);
  }
  // Several, of equal duration; their texts with " | " between.
  std::string turns(size_t count, Duration took = std::chrono::milliseconds(1)) {
    std::string out;
    for (size_t i = 0; i < count; ++i) out += (i > 0 ? " | " : "") + turn(took);
    return out;
  }

  void finish(const Step& step, Duration took) {
    const Time began = now;
    now += took;
    scheduler.step_done(began, now);
    for (const Slice& slice : step.slices) {
      if (slice.logits != Slice::Logits::none) give_token(slice);
    }
  }

  cache::Residency residency;
  Scheduler scheduler;
  Time now{};
  std::map<SequenceId, size_t> left;  // tokens of the answer

 private:
  static SchedulerOptions on_grid(const Setup& setup) {
    SchedulerOptions options = setup.scheduler;
    options.page_size = setup.residency.page_size;
    return options;
  }

  void give_token(const Slice& slice) {
    size_t& num_left = left.at(slice.sequence);
    if (slice.logits == Slice::Logits::all && num_left > 0)
      return;  // tests of logits read prompts only
    if (num_left <= 1) return scheduler.remove(slice.sequence);
    --num_left;
    scheduler.token_known(slice.sequence, 1000 + static_cast<cache::TokenId>(slice.sequence));
  }
};

}  // namespace evener::sched
