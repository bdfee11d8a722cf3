#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/work_times.h"
#include "cache/residency.h"
#include "cache/tiers.h"
#include "engine/engine.h"
#include "engine/pass_builder.h"
#include "engine/ranks.h"
#include "engine/sequence.h"
#include "engine/transfer_runner.h"
#include "sample/sampler.h"
#include "sched/scheduler.h"

namespace evener::engine {

// The thread on which everything runs: it takes in what was submitted and cancelled, asks the
// scheduler for steps, as many as the ranks take at a time, waits for the oldest, lets the
// sequences choose their tokens and tells their owners. It sleeps while there is nothing to do.
//
// Public methods are safe from any thread, but drain(), stop() and the destructor not from a sink.
class StepLoop {
 public:
  struct Options {
    sched::SchedulerOptions scheduler;
    cache::ResidencyOptions residency;
    size_t vocab_size = 0;
    WorkTimes* times = nullptr;  // gets sampling and idle time; null: nobody wants to know
    std::function<void(const Error&)> when_down = {};  // LoadedModel::when_down
  };

  // The ranks outlive the loop and are used by nobody else; so do the tiers, which may be null.
  StepLoop(Ranks& ranks, cache::Tiers* tiers, const Options& options);

  ~StepLoop() { stop(); }
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  SequenceId next_id();

  // Errors: unavailable, after drain() began, with too many waiting already, or with ranks that
  // have failed for good.
  Status submit(std::unique_ptr<Sequence> sequence);
  void cancel(SequenceId id);
  // Forgets what was computed for requests that have ended.
  void flush_cache();
  void drain(std::chrono::milliseconds patience);
  // Cancels what is left, with a last update for each, has the tiers keep what they want, and joins
  // the thread.
  void stop();
  Stats stats() const;

  // How the ranks are.
  struct Condition {
    enum class State {
      serving,
      restarting,  // requests are taken and wait
      down,        // for good: requests are refused
    };
    State state = State::serving;
    std::optional<Error> why = {};  // unless they serve
  };
  Condition condition() const;

 private:
  struct Cancel {
    SequenceId id = 0;
    Sequence::Clock::time_point asked;
  };
  // What other threads have asked for since the last step.
  struct Inbox {
    std::vector<std::unique_ptr<Sequence>> arrivals;
    std::vector<Cancel> cancels;
    bool cancel_all = false;
    bool flush_cache = false;
    bool stop = false;
    std::optional<Result<Restart>> restarted = {};  // from our own restarter_
    bool empty() const {
      return arrivals.empty() && cancels.empty() && !cancel_all && !flush_cache && !stop &&
             !restarted;
    }
  };
  // A step that the ranks have been given.
  struct Flight {
    std::vector<sched::Slice> slices;  // empty: it had only transfers, and there is no pass
    std::vector<PassBuilder::LogitRange> logits;  // of each slice, in the pass
    Sequence::Clock::time_point began;
  };

  void run() noexcept;
  Inbox wait_for_work(bool may_have_work);
  void take_in(Inbox inbox);
  void cancel_all();
  sched::Time now() const { return Sequence::Clock::now() - start_; }
  void add(std::unique_ptr<Sequence> sequence);
  void refuse(SequenceId id, std::string why);
  void cancel(const Cancel& cancel);
  void end_all();
  void let_go_of_expired();

  // step_loop_steps.cpp
  bool run_steps();
  void issue_steps();
  bool issue_step();
  std::vector<sched::Slice> make_transfers(const sched::Step& step);
  void begin_pass(Flight& step);
  bool needs_logits(const sched::Slice& slice) const;
  bool finish_oldest();
  void apply(const Flight& step, const PassResult& result);
  void apply(const sched::Slice& slice, const ResultRows& rows);
  void settle(std::span<const sched::Slice> slices);
  void touch(SequenceId id);
  void ranks_failed(const Error& error);
  void restarted(const Result<Restart>& outcome);
  void fail_all(const Error& error);
  void set_condition(Condition condition);

  void tell_queue();
  void save_cache();
  void end(SequenceId id);
  void publish();
  void deliver();
  void note_quiet();

  // Used by the loop's thread alone.
  Ranks& ranks_;
  const Options options_;
  cache::Tiers* tiers_;
  cache::Residency residency_;
  sched::Scheduler scheduler_;
  TransferRunner transfers_;
  PassBuilder builder_;
  sample::Workspace workspace_;
  std::deque<Flight> in_flight_;  // oldest first
  std::map<SequenceId, std::unique_ptr<Sequence>> sequences_;
  std::vector<std::unique_ptr<Sequence>> ended_;  // in this step; their last update is still to go
  std::vector<SequenceId> given_;                 // a token in this step
  std::vector<SequenceId> touched_;               // by this step, and not ended
  std::vector<SequenceId> told_queue_;            // as those who wait know it
  Sequence::Clock::time_point queue_told_{};
  Stats counted_;                             // what the loop knows, without requests
  Sequence::Clock::time_point step_ended_{};  // the last one
  bool stopping_ = false;
  std::thread restarter_;  // of the ranks; nobody else uses them meanwhile
  const Sequence::Clock::time_point start_ = Sequence::Clock::now();

  mutable std::mutex mutex_;
  std::condition_variable work_;   // the inbox has something
  std::condition_variable quiet_;  // the last sequence has ended
  Inbox inbox_;
  bool draining_ = false;
  Condition condition_;  // written by the loop's thread alone
  SequenceId last_id_ = 0;
  size_t num_live_ = 0;  // submitted, and the sink not yet gone
  uint64_t num_requests_ = 0;
  Stats published_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace evener::engine
