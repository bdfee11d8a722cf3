#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/work_times.h"
#include "engine/engine.h"
#include "engine/pass_builder.h"
#include "engine/rank.h"
#include "engine/residency.h"
#include "engine/sequence.h"
#include "sample/sampler.h"
#include "sched/first_come.h"

namespace evener::engine {

// The thread on which everything runs: it takes in what was submitted and cancelled, asks the
// scheduler for a step, has the rank execute it, lets the sequences choose their tokens and tells
// their owners. It sleeps while there is nothing to do.
//
// Public methods are safe from any thread, but drain(), stop() and the destructor not from a sink.
class StepLoop {
 public:
  struct Options {
    sched::first_come::SchedulerOptions scheduler;
    ResidencyOptions residency;
    size_t vocab_size = 0;
    WorkTimes* times = nullptr;  // gets sampling and idle time; null: nobody wants to know
  };

  // The rank outlives the loop and is used by nobody else.
  StepLoop(Rank& rank, const Options& options);

  ~StepLoop() { stop(); }
  StepLoop(const StepLoop&) = delete;
  StepLoop& operator=(const StepLoop&) = delete;

  SequenceId next_id();

  // Error: unavailable, after drain() began.
  Status submit(std::unique_ptr<Sequence> sequence);
  void cancel(SequenceId id);
  void drain(std::chrono::milliseconds patience);
  // Cancels what is left, with a last update for each, and joins the thread.
  void stop();
  Stats stats() const;

 private:
  // What other threads have asked for since the last step.
  struct Inbox {
    std::vector<std::unique_ptr<Sequence>> arrivals;
    std::vector<SequenceId> cancels;
    bool cancel_all = false;
    bool stop = false;
    bool empty() const { return arrivals.empty() && cancels.empty() && !cancel_all && !stop; }
  };

  void run() noexcept;
  Inbox wait_for_work();
  void take_in(Inbox inbox);
  void cancel_all();
  void run_step();
  void prepare(const sched::Step& step);
  void apply(const sched::Step& step, std::span<const float> logits);
  void apply(const sched::Slice& slice, std::span<const float> logits);
  void end(SequenceId id);
  void publish();
  void deliver();
  void settle();

  // Used by the loop's thread alone.
  Rank& rank_;
  const Options options_;
  sched::first_come::Scheduler scheduler_;
  Residency residency_;
  PassBuilder builder_;
  sample::Workspace workspace_;
  std::map<SequenceId, std::unique_ptr<Sequence>> sequences_;
  std::vector<std::unique_ptr<Sequence>> ended_;  // in this step; their last update is still to go
  std::vector<SequenceId> touched_;               // by this step, and not ended
  Stats counted_;                                 // what the loop knows, without requests

  mutable std::mutex mutex_;
  std::condition_variable work_;   // the inbox has something
  std::condition_variable quiet_;  // the last sequence has ended
  Inbox inbox_;
  bool draining_ = false;
  SequenceId last_id_ = 0;
  size_t num_live_ = 0;  // submitted, and the sink not yet gone
  uint64_t num_requests_ = 0;
  Stats published_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace evener::engine
