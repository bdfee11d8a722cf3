#pragma once

#include <span>
#include <vector>

#include "cache/residency.h"
#include "sched/scheduler.h"
#include "simulate/fake_device.h"
#include "simulate/invariants.h"
#include "simulate/simulation.h"
#include "simulate/workload.h"

namespace evener::simulate {

// A step as it was chosen, before it runs.
struct ChosenStep {
  sched::Step step;
  sched::StepWork work;
  sched::StepWork decode_work;  // of it, the decode rows
  double saved_pages = 0;
  bool contended = false;  // somebody had been given tokens and was to get more
  bool serves_prompts = false;
  size_t num_in_flight = 0;  // steps before it
  sched::Time issued{};

  bool holds_up_streams() const { return contended && serves_prompts; }
  size_t last_prompt_position() const;  // that a prompt row attends to
};

// Holds a run against the invariants that can be checked while it goes on. What it expects it works
// out from the requests, the model's own histories and the table of step times; of the code under
// test it reads results only.
class Checker {
 public:
  struct Subject {
    const Workload* workload = nullptr;
    const std::vector<Life>* lives = nullptr;
    const sched::Scheduler* scheduler = nullptr;
    const cache::Residency* residency = nullptr;
    const FakeDevice* device = nullptr;
  };
  Checker(const Subject& subject, Verdict& verdict) : subject_(subject), verdict_(verdict) {}

  void admitted(const Life& life, const cache::Match& match);
  void step_chosen(const ChosenStep& chosen, sched::Time now);
  void rows_begin(const sched::Slice& slice, const FakeDevice::Rows& rows);
  void token_given(const Life& life, TokenId token, sched::SequenceId id);
  void gap_seen(sched::Duration gap, sched::SequenceId id);
  void step_ended(const ChosenStep& chosen, sched::Time began, sched::Time ended);
  void something_happened(sched::Time now);
  void all_ended();

 private:
  const Life& life(sched::SequenceId id) const { return subject_.lives->at(id - 1); }
  bool is_calm() const;
  size_t depth() const { return subject_.workload->stages.size(); }
  size_t longest_known_prefix(const Life& newcomer) const;
  size_t num_with(Fate fate) const;
  size_t pages_at_most(const Life& life) const;
  bool all_are_sure_to_fit() const;

  void check_append(const Life& newcomer, const cache::Match& match);
  void check_places(const ChosenStep& chosen);
  void check_rows_have_room(const ChosenStep& chosen);
  void check_nobody_else_is_written(const ChosenStep& chosen);
  void check_something_runs(const ChosenStep& chosen);
  void check_pipe_is_full(const ChosenStep& chosen);
  void check_admission_is_prompt(const ChosenStep& chosen, sched::Time now);
  double blindness() const;
  void check_step_length(const ChosenStep& chosen);
  void check_turns(sched::Time now);
  void check_prompts_are_first(const ChosenStep& chosen);
  void check_share(const ChosenStep& chosen, sched::Time now);
  void charge(const ChosenStep& chosen, sched::Duration took);

  Subject subject_;
  Verdict& verdict_;

  sched::Duration longest_step_{};
  sched::Duration longest_contended_{};
  sched::Duration longest_decode_{};
  sched::Duration longest_drain_{};
  size_t num_prompt_steps_ = 0;
  size_t fewest_free_slots_ = SIZE_MAX;
  std::optional<sched::Time> fitting_since_;  // somebody waits who is sure to fit
  double owed_ = 0;                           // to streams, seconds
  double owed_last_ = 0;                      // of it, for the last step of prompts
  size_t owed_for_tokens_ = 0;                // that it read
  double owed_at_most_ = 0;                   // for it, if all of it had been for prompts
};

}  // namespace evener::simulate
