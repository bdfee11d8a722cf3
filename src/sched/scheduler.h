#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cache/residency.h"
#include "sched/client_shares.h"
#include "sched/cost_model.h"
#include "sched/decode_debt.h"
#include "sched/growth_estimate.h"
#include "sched/prefill_streak.h"
#include "sched/sequence.h"
#include "sched/step.h"
#include "sched/virtual_time.h"

namespace evener::sched {

struct SchedulerOptions {
  size_t max_sequences = 16;      // running at once, >= 1
  size_t prefill_chunk = 512;     // prompt tokens a step, >= 1
  size_t prompt_logit_rows = 32;  // prompt tokens a step whose logits are all wanted, >= 1
  size_t page_size = 64;          // positions; chunks end on this grid where they can
  double state_pages = 1;         // size of a recurrent state, in pages: what moving one costs
  size_t depth = 1;               // steps that may run at a time, >= 1: the stages of a layer split

  // The bound in time. A step that holds up streams is cut so that prompts make it longer by at
  // most max_gap.
  Duration max_gap = std::chrono::milliseconds(400);
  double decode_share = 0.5;  // of the time, for streams while prompts are read; 0 <= share < 1
  // Prompt tokens that are worth a step even if it takes longer than max_gap, >= 1: so many, or as
  // many as take half of the step, whichever is less.
  size_t chunk_min = 64;
  Duration prefill_deadline = std::chrono::seconds(5);  // from one turn of a prompt to its next
  bool mixed = true;  // decode rows ride along with prompt chunks; false: a step has one kind

  // The bound in steps, instead: after so many prompt steps in a row one decode step. 0: prompts
  // first. Steps have one kind and chunks are whole.
  std::optional<size_t> max_prefill_steps{};

  size_t max_queued = SIZE_MAX;              // waiting, without those that ran already
  Duration queue_timeout = Duration::max();  // of those who have not run yet
};

enum class AddOutcome {
  queued,
  queue_full,  // and nobody in it is worth less
  too_large,   // prompt and answer can never fit into the pool
};

struct Added {
  AddOutcome outcome = AddOutcome::queued;
  SequenceId displaced = 0;  // was waiting, had to go for this one and is forgotten; 0: nobody
};

struct SchedulerStats {
  size_t num_waiting = 0;
  size_t num_running = 0;
  size_t tokens_waiting = 0;  // of those who wait, without what the cache may save
  uint64_t num_steps = 0;
  uint64_t num_retractions = 0;
  uint64_t tokens_issued = 0;         // rows of all steps
  Duration gap_max{};                 // between two tokens of a sequence that ran all the while
  std::optional<Duration> gap_bound;  // by what steps have taken; none: prompts go first
  Duration decode_owed{};
  Duration usual_wait{};  // for a place, of those who got one lately
  double growth_share = 0;
  CostModel::Terms cost{};  // as CostModel::coefficients()
  double cost_error = 0;    // as CostModel::error()
};

// Sequences to steps. Who is given a place, what runs next, how much of a prompt.
//
// Streams (sequences that give tokens) get a row in every step; prompts fill the rest. While there
// is a stream, a step is cut so that prompts make it longer by at most max_gap, and the time it
// took for prompts is owed to the streams: DecodeDebt. A prompt without a turn for prefill_deadline
// gets one whatever is owed. With nobody to hold up, prompts get whole chunks.
//
// A place goes to the client that holds the fewest, then to the one that has had least; among its
// own to the smallest priority, then to who came first. Nobody overtakes a head that does not fit.
// Room is set aside for what answers are likely to need (GrowthEstimate). Where that was too
// little, streams are sent back to the queue, to their old place in it, and go on later with what
// the tree has kept of them.
//
// Up to `depth` steps run at a time, in the order in which they were issued: what a step computes
// is there for every step after it, and counts as computed once the next one is asked for. A prompt
// has chunks in several of them, a stream one row in one of them: it needs its token for the next.
// So streams spread over the steps, and prompts are cut so that all stages have something to do.
//
// How it is driven, by one thread; the clock is the caller's:
//
//   add() ...
//   for (;;) {
//     if fewer than `depth` steps run: step = next_step(now)
//       execute step.transfers in order; for a load that found nothing: load_failed(its sequence),
//         whose slice is not run
//       begin to execute step.slices
//     if as many run, or there was nothing to do:   none runs: sleep until add(), or wake_at()
//       wait for the oldest, then step_done(began, ended)
//       for each sequence: token_known(id, token) if it goes on, remove(id) if it has ended
//     expired(now)             who has waited too long, and still waits: tell them
//   }
//
// What the device does not do is told by step_failed(), or by all_failed() if it has lost its
// caches.
//
// Calls in another order are our own bug and abort. Pure: the same calls give the same steps.
// Source: reference/serving/scheduler.md 3, 5, 6, 7; docs/scheduling.md.
// Judges: tests/sched/scheduler_test.cpp, src/simulate.
class Scheduler {
 public:
  // `residency` outlives this, and nobody else calls its methods that are not const, but flush()
  // and save_all().
  Scheduler(const SchedulerOptions& options, cache::Residency& residency);

  // The id must not be known.
  Added add(Arrival arrival);

  // Who has waited longer than queue_timeout. They are forgotten.
  std::vector<SequenceId> expired(Time now);

  // Takes in what has become possible and returns what to run next. Fewer than `depth` steps run.
  // Empty: there is nothing to do before one of them is done, or, if none runs, before something
  // new comes.
  Step next_step(Time now);

  // From now on so many steps may run at a time. None does.
  void set_depth(size_t depth);

  // The oldest step that runs has run: from `began`, when it was given to the device, to `ended`.
  void step_done(Time began, Time ended);

  // With depth 1: the step's transfers were made, its rows were not, or only in part: all its
  // sequences go back to the queue.
  void step_failed(Time now);

  // The device has lost what it held, and the steps that run with it. Forgets the sequences that
  // have a place, and returns them, and whatever was computed for anybody. Who waits, waits on.
  std::vector<SequenceId> all_failed();

  // After next_step(), before the next one and before its step_done(): the sequence cannot have
  // what it was to load. It goes back to the queue, and its slice of the step must not be run.
  void load_failed(SequenceId id, Time now);

  // The running sequence, all of whose tokens have been read, was given its next one.
  void token_known(SequenceId id, cache::TokenId token);

  // Forgets a sequence that has ended or was cancelled, in whatever phase: if steps with rows of it
  // run, nobody is to look at what these give. Unknown ids are ignored.
  void remove(SequenceId id);

  // When next_step() or expired() may have something to say though nothing has happened.
  std::optional<Time> wake_at() const;

  // Who waits, by priority, then arrival. Clients take turns, so a later one may be next.
  std::vector<SequenceId> waiting_ids() const;

  size_t num_waiting() const { return waiting_.size(); }
  size_t num_running() const { return running_.size(); }
  size_t num_steps_running() const { return in_flight_.size(); }
  SchedulerStats stats() const;

  // The largest number of tokens, of prompt and answer together, that add() does not refuse.
  size_t tokens_max() const;

 private:
  // A step that is being put together, and then runs.
  struct Turn {
    Time issued{};
    bool contended = false;       // a stream was there when it began
    bool counts_as_done = false;  // what its rows compute is there for later steps
    StepWork work{};
    StepWork decode_work{};  // of it, the decode rows
    std::vector<Slice> slices{};
    std::vector<std::pair<SequenceId, double>> restores{};  // pages of each transfer

    bool serves_prompts() const { return work.prompt_tokens > 0 || !restores.empty(); }
    bool serves_anybody() const { return serves_prompts() || work.decode_rows > 0; }
    bool holds_up_streams() const { return contended && serves_prompts(); }
  };

  // Whose turn it is, and what it consists of: scheduler.cpp.
  bool mixes() const { return options_.mixed && !streak_; }
  bool is_contended() const;
  bool prompts_may_run(Time now) const;
  bool is_overdue(const Sequence& sequence, Time now) const;
  bool can_decode() const;
  void add_decodes(Time now, Step& step);
  std::vector<Sequence*> next_decodes() const;
  size_t decode_rows_max(size_t num_ready) const;
  bool pipe_reads_prompts() const;
  void add_prompt_work(Time now, Step& step);
  void take_transfers(Step& step);
  void add_restores(Time now, Step& step);
  Duration gap_limit() const;
  double size_pages(const cache::Transfer& transfer) const;
  void add_prompts(Time now, Step& step);
  size_t prompt_tokens_max() const;
  std::vector<Sequence*> prompts_in_order(Time now) const;
  size_t chunk_size(const Sequence& sequence, size_t num_tokens_max) const;
  StepWork work_with_saves(const Sequence& sequence, size_t num_tokens) const;
  size_t end_on_grid(const Sequence& sequence, size_t position_end) const;
  static Slice prompt_slice(Sequence& sequence, size_t num_tokens);
  void add_slice(const Slice& slice, Step& step);
  void unblock_prompts(Time now, Step& step);
  void issue(Step& step);
  void count_as_done(Turn& turn);

  // Who gets a place, and who has to give it back: scheduler_queue.cpp.
  Sequence* displaced_by(const Arrival& arrival) const;
  void enqueue(Sequence& sequence, Time now);
  void forget(Sequence& sequence);
  void admit(Time now, Step& step);
  void note_wait(const Sequence& admitted, Time now);
  Sequence& next_in_queue() const;
  bool fits(const Sequence& candidate, const cache::Match& match) const;
  void start(Sequence& sequence, const cache::Match& match, Time now);
  size_t pages_of(size_t num_tokens) const;
  size_t pages_likely(const Sequence& sequence) const;
  void make_room_for(std::vector<Sequence*>& decodes, Time now, Step& step);
  bool send_back_victims(Time now, Step& step);
  bool cover(const std::vector<Sequence*>& decodes);
  size_t pages_for_decodes(size_t num_steps) const;
  Sequence& victim() const;
  void retract(Sequence& sequence, Time now, Step& step);
  void send_back(Sequence& sequence, Time now);
  void stop_running(Sequence& sequence);

  // What steps have cost whom: scheduler_accounts.cpp.
  Duration time_of(Time began, Time ended) const;
  void charge_clients(const Turn& turn, Duration took);
  void settle_debt(const Turn& turn, Duration took);
  void note_durations(const Turn& turn, Time began, Time ended);
  void note_token(Sequence& sequence, Time ended);
  std::optional<Duration> gap_bound() const;

  SchedulerOptions options_;
  cache::Residency& residency_;
  const size_t num_pages_;
  CostModel cost_;
  DecodeDebt debt_;
  std::optional<PrefillStreak> streak_;  // only with max_prefill_steps
  GrowthEstimate growth_;
  ClientShares shares_;

  std::unordered_map<SequenceId, std::unique_ptr<Sequence>> sequences_;
  std::vector<Sequence*> waiting_;  // by priority, then arrival
  std::vector<Sequence*> running_;  // in order of admission

  Turn turn_;                   // that is being put together
  std::deque<Turn> in_flight_;  // oldest first, at most options_.depth
  Time last_ended_{};           // the step that was done last
  uint64_t num_pages_saved_ = 0;
  bool streams_held_up_ = false;  // the last step gave the streams nothing
  bool room_is_awaited_ = false;  // by decode rows, of a sequence that has rows in flight
  SchedulerStats counted_;
  Duration longest_contended_{};
  Duration longest_decode_{};
  Duration longest_drain_{};  // from a step's choice to its beginning: saves wait for all before it
};

}  // namespace evener::sched
