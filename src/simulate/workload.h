#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/residency.h"
#include "sched/scheduler.h"
#include "simulate/fake_device.h"
#include "simulate/fake_model.h"

namespace evener::simulate {

// How long steps take, seconds.
struct StepTable {
  double step = 0.005;
  double prompt_step = 0;  // of a step with prompt tokens, on top
  double prompt_token = 0.001;
  double position = 1e-8;  // of attention, per row and position
  double decode_row = 0.002;
  double moved_page = 0.001;
  double noise = 0;       // of normal distribution, relative
  double slow_steps = 0;  // part of the steps that take ten times as long

  double expected(const sched::StepWork& work) const {
    return step + (work.prompt_tokens > 0 ? prompt_step : 0) +
           prompt_token * static_cast<double>(work.prompt_tokens) +
           position * (work.prompt_positions + work.decode_positions) +
           decode_row * static_cast<double>(work.decode_rows) + moved_page * work.moved_pages;
  }
};

struct Faults {
  double failed_steps = 0;  // part of the steps whose rows are not run, or half of them
  double clock_jumps = 0;   // part of the steps after which the clock jumps, forth or a little back
};

struct Request {
  std::vector<TokenId> prompt{};
  size_t num_new_tokens_max = 0;
  bool ignores_end = false;  // the answer is as long as it may be
  bool prompt_logits = false;
  uint64_t client = 0;
  int priority = 0;
  uint64_t session = 0;
  uint64_t salt = 0;
  std::vector<size_t> message_ends{};

  size_t follows = 0;     // number of the request, counted from 1, that has to end first; 0: none
  sched::Time arrives{};  // since the beginning, or since the end of the one that it follows
  std::optional<sched::Duration> cancelled_after{};  // its arrival
};

// All of a run: what is asked for, of what machine, and what goes wrong.
struct Workload {
  unsigned seed = 0;  // of noise and faults
  sched::SchedulerOptions scheduler{};
  cache::ResidencyOptions residency{};
  double state_pages = 2;
  size_t num_stored_max = 0;  // entries of the tier
  double stored_damage = 0;
  StepTable table{};
  std::vector<double> stages = {1};  // part of a step's time that each takes; the sum is 1
  Faults faults{};
  std::vector<Request> requests{};

  // For tests of the simulator: faults it should find.
  Sabotage sabotage = Sabotage::none;

  // As many stages, each with an equal part of the layers; as many steps in flight.
  void set_stages(size_t num_stages) {
    stages.assign(num_stages, 1.0 / static_cast<double>(num_stages));
    scheduler.depth = num_stages;
  }

  bool is_recurrent() const { return residency.num_state_slots > 0; }
};

// The prompt of a request together with the answer that the model gives to it.
History history_of(const Request& request, bool is_recurrent);

// What to expect of strangers: any machine, any options, prompts that share beginnings, chats that
// come back, clients that hurry, wait or vanish. The same seed gives the same workload, on a
// machine of as many stages, of unequal speed.
Workload random_workload(unsigned seed, size_t num_stages = 1);

// A few lines that say what the workload is, for whoever has to find out why it fails.
std::string to_string(const Workload& workload);

}  // namespace evener::simulate
