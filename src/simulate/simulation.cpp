#include "simulate/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "simulate/checker.h"
#include "simulate/fake_pipe.h"

namespace evener::simulate {
namespace {

using sched::Duration;
using sched::SequenceId;
using sched::Time;

constexpr size_t kNumTurnsMax = 500'000;  // of a run: beyond it nothing will end any more
constexpr size_t kNumFailuresMax = 20;    // of steps: else long prompts would never be read

// What the scheduler is told, which sabotage makes differ from what is expected of it.
sched::SchedulerOptions told(const Workload& workload) {
  sched::SchedulerOptions options = workload.scheduler;
  switch (workload.sabotage) {
    case Sabotage::ignore_debts:
      options.decode_share = 0;
      break;
    case Sabotage::ignore_target:
      options.max_gap *= 20;
      break;
    case Sabotage::ignore_deadline:
      options.prefill_deadline *= 1000;
      break;
    case Sabotage::ignore_step_limit:
      options.max_prefill_steps = 0;
      break;
    case Sabotage::one_place_more:
      ++options.max_sequences;
      break;
    default:
      break;
  }
  return options;
}

// A step that the device has been given.
struct Flight {
  ChosenStep chosen;
  FakePipe::Pass pass{};
  bool fails = false;
};

class Simulation {
 public:
  explicit Simulation(const Workload& workload);

  Outcome run();

 private:
  Life& life(SequenceId id) { return outcome_.lives.at(id - 1); }

  void take_in();
  void submit(SequenceId id);
  void cancel_due();
  bool has_arrived(const Life& life) const;
  void wait_for_something();
  bool all_are_over() const;
  void take_turn();
  ChosenStep choose();
  void begin(ChosenStep chosen);
  void finish_oldest();
  void execute(const Flight& flight);
  void note_admissions(const sched::Step& step);
  void fail(const Flight& flight);
  void lose_all();
  void note_service(const ChosenStep& chosen, Duration took);
  Duration duration_of(const sched::StepWork& work);
  FakeDevice::Rows rows_of(const FakePipe::GivenRows& given) const;
  void give_token(SequenceId id, TokenId token);
  void end(SequenceId id, Fate fate);
  void back_to_queue(SequenceId id);
  bool chance(double probability) {
    return probability > 0 && std::uniform_real_distribution<>()(random_) < probability;
  }

  const Workload& workload_;
  std::mt19937 random_;
  FakePipe pipe_;
  cache::Residency residency_;
  sched::Scheduler scheduler_;
  std::deque<Flight> in_flight_;  // oldest first
  Outcome outcome_;
  Checker checker_;
  Time now_{};
};

Simulation::Simulation(const Workload& workload)
    : workload_(workload),
      random_(workload.seed),
      pipe_(workload),
      residency_(workload.residency, &pipe_.store()),
      scheduler_(told(workload), residency_),
      checker_({.workload = &workload,
                .lives = &outcome_.lives,
                .scheduler = &scheduler_,
                .residency = &residency_,
                .device = &pipe_.device()},
               outcome_.verdict) {
  for (const Request& request : workload.requests) {
    Life life;
    life.request = &request;
    life.history = history_of(request, workload.is_recurrent());
    outcome_.lives.push_back(std::move(life));
  }
}

Outcome Simulation::run() {
  for (size_t turn = 0; turn < kNumTurnsMax; ++turn) {
    if (outcome_.verdict.breach() || all_are_over()) break;
    take_turn();
  }
  if (!outcome_.verdict.breach()) checker_.all_ended();
  outcome_.scheduler = scheduler_.stats();
  outcome_.cache = residency_.stats();
  outcome_.end = now_;
  return std::move(outcome_);
}

bool Simulation::all_are_over() const {
  return std::ranges::all_of(outcome_.lives, [](const Life& life) { return life.is_over(); });
}

// One round of the engine's loop.
void Simulation::take_turn() {
  outcome_.verdict.set_time(now_);
  take_in();
  while (in_flight_.size() < workload_.stages.size()) {
    ChosenStep chosen = choose();
    if (outcome_.verdict.breach()) return;
    if (chosen.step.empty()) break;
    begin(std::move(chosen));
  }
  if (in_flight_.empty()) return wait_for_something();
  finish_oldest();
  if (chance(workload_.faults.clock_jumps)) {
    now_ += std::chrono::milliseconds(chance(0.3) ? -50 : 20'000);
  }
  checker_.something_happened(now_);
}

bool Simulation::has_arrived(const Life& life) const {
  const size_t follows = life.request->follows;
  if (follows == 0) return life.request->arrives <= now_;
  const std::optional<Time> ended = outcome_.lives[follows - 1].ended;
  return ended && *ended + life.request->arrives <= now_;
}

void Simulation::take_in() {
  for (SequenceId id = 1; id <= outcome_.lives.size(); ++id) {
    if (life(id).fate == Fate::to_come && has_arrived(life(id))) submit(id);
  }
  cancel_due();
  for (const SequenceId id : scheduler_.expired(now_)) end(id, Fate::timed_out);
}

void Simulation::submit(SequenceId id) {
  Life& arriving = life(id);
  const Request& request = *arriving.request;
  arriving.arrived = now_;
  arriving.num_known = request.prompt.size();
  arriving.fate = Fate::waiting;
  const sched::Added added = scheduler_.add(
      {.newcomer = {.id = id,
                    .tokens = request.prompt,
                    .salt = workload_.sabotage == Sabotage::hide_salts ? 0 : request.salt,
                    .session = request.session,
                    .message_ends = request.message_ends},
       .num_new_tokens_max = request.num_new_tokens_max,
       .prompt_logits = request.prompt_logits,
       .client = request.client,
       .priority = request.priority,
       .arrived = now_});
  if (added.outcome == sched::AddOutcome::queue_full) end(id, Fate::queue_full);
  if (added.outcome == sched::AddOutcome::too_large) end(id, Fate::too_large);
  if (added.displaced != 0) end(added.displaced, Fate::displaced);
  checker_.something_happened(now_);
}

void Simulation::cancel_due() {
  for (SequenceId id = 1; id <= outcome_.lives.size(); ++id) {
    const Life& asked = life(id);
    const auto& after = asked.request->cancelled_after;
    if (!after || !asked.arrived || asked.is_over() || now_ < *asked.arrived + *after) continue;
    if (workload_.sabotage != Sabotage::run_on_after_cancels) scheduler_.remove(id);
    end(id, Fate::cancelled);
    checker_.something_happened(now_);
  }
}

ChosenStep Simulation::choose() {
  ChosenStep chosen;
  chosen.num_in_flight = in_flight_.size();
  chosen.issued = now_;
  chosen.contended =
      std::ranges::any_of(outcome_.lives, [](const Life& life) { return life.is_stream(); });
  chosen.step = scheduler_.next_step(now_);
  note_admissions(chosen.step);
  for (const sched::Slice& slice : chosen.step.slices) {
    chosen.work.add(slice);
    if (slice.kind == sched::Slice::Kind::decode) chosen.decode_work.add(slice);
  }
  chosen.serves_prompts = chosen.work.prompt_tokens > 0;
  for (const cache::Transfer& transfer : chosen.step.transfers) {
    if (!transfer.is_load() && !transfer.is_save()) continue;
    const bool is_state = transfer.key.kind == cache::EntryKey::Kind::state;
    const double num_pages = is_state ? workload_.state_pages : 1.0;
    chosen.work.moved_pages += num_pages;
    if (transfer.is_save()) {
      chosen.saved_pages += num_pages;
      continue;
    }
    chosen.serves_prompts = true;
    life(transfer.sequence).last_turn = now_;
  }
  checker_.step_chosen(chosen, now_);
  for (const sched::Slice& slice : chosen.step.slices) {
    life(slice.sequence).last_turn = now_;
    life(slice.sequence).num_issued = slice.position_end();
  }
  return chosen;
}

void Simulation::note_admissions(const sched::Step& step) {
  for (const SequenceId id : step.retracted) back_to_queue(id);
  for (const sched::Admission& admission : step.admitted) {
    Life& starting = life(admission.sequence);
    checker_.admitted(starting, admission.match);
    starting.fate = Fate::running;
    starting.num_issued = admission.match.num_tokens;
    starting.num_computed = admission.match.num_tokens;
    starting.last_turn = now_;
    if (starting.num_admissions++ == 0) starting.num_first_matched = admission.match.num_tokens;
  }
}

void Simulation::back_to_queue(SequenceId id) {
  Life& sent_back = life(id);
  sent_back.fate = Fate::waiting;
  sent_back.token_due = false;
  sent_back.last_token.reset();
}

// Gives the step to the device. What is to be saved has to be read first, behind all that was
// given before.
void Simulation::begin(ChosenStep chosen) {
  const auto& transfers = chosen.step.transfers;
  if (std::ranges::any_of(transfers, [](const cache::Transfer& t) { return t.is_save(); })) {
    while (!in_flight_.empty()) {
      finish_oldest();
      if (scheduler_.num_steps_running() == 0) return;  // all has failed, this one too
    }
  }
  Flight flight{.chosen = std::move(chosen)};
  flight.fails =
      outcome_.num_failed_steps < kNumFailuresMax && chance(workload_.faults.failed_steps);
  std::set<SequenceId> failed;
  for (const cache::Transfer& asked : flight.chosen.step.transfers) {
    if (pipe_.transfer(asked, flight.pass)) continue;
    ++outcome_.num_failed_loads;
    failed.insert(asked.sequence);
  }
  for (const SequenceId id : failed) {
    scheduler_.load_failed(id, now_);
    back_to_queue(id);
  }
  for (const sched::Slice& slice : flight.chosen.step.slices) {
    if (failed.contains(slice.sequence)) continue;
    const auto pages = residency_.pages(slice.sequence);
    flight.pass.rows.push_back({.slice = slice,
                                .pages = {pages.begin(), pages.end()},
                                .state_slot = residency_.state_slot(slice.sequence)});
  }
  pipe_.begin(flight.pass, duration_of(flight.chosen.work), now_);
  in_flight_.push_back(std::move(flight));
  if (workload_.stages.size() > 1) checker_.something_happened(now_);
}

void Simulation::finish_oldest() {
  const Flight flight = std::move(in_flight_.front());
  in_flight_.pop_front();
  now_ = std::max(now_, flight.pass.ends);
  outcome_.verdict.set_time(now_);
  pipe_.end(flight.pass);
  if (flight.fails) {
    fail(flight);
  } else {
    execute(flight);
  }
}

// The device gives up half way through the rows.
void Simulation::fail(const Flight& flight) {
  const std::span<const FakePipe::GivenRows> rows = flight.pass.rows;
  for (const FakePipe::GivenRows& given : rows.first((rows.size() + 1) / 2)) {
    (void)pipe_.device().run(rows_of(given));
  }
  ++outcome_.num_failed_steps;
  if (workload_.stages.size() > 1) return lose_all();
  scheduler_.step_failed(now_);
  for (const sched::Slice& slice : flight.chosen.step.slices) back_to_queue(slice.sequence);
}

void Simulation::lose_all() {
  in_flight_.clear();
  pipe_.lose_all();
  for (const SequenceId id : scheduler_.all_failed()) end(id, Fate::failed);
  outcome_.verdict.expect(
      Invariant::S4,
      std::ranges::none_of(outcome_.lives,
                           [](const Life& life) { return life.fate == Fate::running; }),
      [] { return std::string("somebody runs though all was lost"); });
}

void Simulation::execute(const Flight& flight) {
  std::vector<std::pair<SequenceId, TokenId>> tokens;
  for (const FakePipe::GivenRows& given : flight.pass.rows) {
    const sched::Slice& slice = given.slice;
    checker_.rows_begin(slice, rows_of(given));
    const TokenId token = pipe_.device().run(rows_of(given));
    Life& reader = life(slice.sequence);
    if (reader.is_over()) continue;  // nobody looks at it any more
    reader.num_computed = slice.position_end();
    reader.tokens_computed += slice.num_tokens;
    reader.num_logits_seen = std::max(reader.num_logits_seen, reader.num_computed);
    if (reader.num_computed == reader.num_known) tokens.emplace_back(slice.sequence, token);
  }
  scheduler_.step_done(flight.pass.began, now_);
  note_service(flight.chosen, now_ - flight.pass.began);
  checker_.step_ended(flight.chosen, flight.pass.began, now_);
  if (flight.chosen.holds_up_streams()) {
    outcome_.contended_longest = std::max(outcome_.contended_longest, now_ - flight.pass.began);
  }
  for (const auto& [id, token] : tokens) give_token(id, token);
}

void Simulation::note_service(const ChosenStep& chosen, Duration took) {
  double sum = 0;
  const auto part = [this](const sched::Slice& slice) {
    sched::StepWork work;
    work.add(slice);
    return workload_.table.expected(work);
  };
  for (const sched::Slice& slice : chosen.step.slices) sum += part(slice);
  for (const sched::Slice& slice : chosen.step.slices) {
    life(slice.sequence).service += sched::from_seconds(sched::seconds(took) * part(slice) / sum);
  }
}

Duration Simulation::duration_of(const sched::StepWork& work) {
  double seconds = workload_.table.expected(work);
  if (workload_.table.noise > 0) {
    seconds *= std::max(1 + workload_.table.noise * std::normal_distribution<>()(random_), 0.2);
  }
  if (chance(workload_.table.slow_steps)) seconds *= 10;
  return sched::from_seconds(seconds);
}

FakeDevice::Rows Simulation::rows_of(const FakePipe::GivenRows& given) const {
  const sched::Slice& slice = given.slice;
  const auto tokens = outcome_.lives[slice.sequence - 1].history.tokens();
  return {.salt = workload_.requests[slice.sequence - 1].salt,
          .first_position = slice.first_position,
          .tokens = tokens.subspan(slice.first_position, slice.num_tokens),
          .pages = given.pages,
          .state_slot = given.state_slot};
}

// What the engine does with the logits of a sequence's last token.
void Simulation::give_token(SequenceId id, TokenId token) {
  Life& reader = life(id);
  if (reader.request->num_new_tokens_max == 0) {
    scheduler_.remove(id);
    return end(id, Fate::finished);
  }
  checker_.token_given(reader, token, id);
  if (outcome_.verdict.breach()) return;
  if (reader.last_token) {
    const Duration gap = now_ - *reader.last_token;
    checker_.gap_seen(gap, id);
    reader.gaps.push_back(gap);
    outcome_.gap_max = std::max(outcome_.gap_max, gap);
  }
  reader.last_token = now_;
  ++reader.num_known;
  if (reader.num_known == reader.history.size()) {
    scheduler_.remove(id);
    return end(id, Fate::finished);
  }
  scheduler_.token_known(id, token);
  reader.token_due = true;
}

void Simulation::end(SequenceId id, Fate fate) {
  life(id).fate = fate;
  life(id).ended = now_;
}

// Nothing runs: on to the next arrival, cancellation or timeout.
void Simulation::wait_for_something() {
  Time next = Time::max();
  for (const Life& life : outcome_.lives) {
    if (life.is_over()) continue;
    const Request& request = *life.request;
    if (life.arrived) {
      if (request.cancelled_after) next = std::min(next, *life.arrived + *request.cancelled_after);
    } else if (request.follows == 0) {
      next = std::min(next, request.arrives);
    } else if (const auto ended = outcome_.lives[request.follows - 1].ended) {
      next = std::min(next, *ended + request.arrives);
    }
  }
  if (const auto wake = scheduler_.wake_at()) next = std::min(next, *wake);
  outcome_.verdict.expect(Invariant::L1, next != Time::max() || all_are_over(),
                          [] { return std::string("nothing will ever happen again"); });
  if (next != Time::max()) now_ = std::max(now_, next);
}

}  // namespace

Outcome simulate(const Workload& workload) { return Simulation(workload).run(); }

}  // namespace evener::simulate
