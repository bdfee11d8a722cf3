#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sched/step.h"
#include "sched/virtual_time.h"
#include "simulate/fake_device.h"
#include "simulate/workload.h"

namespace evener::simulate {

// The device as a pipe of stages, and its tier. Steps go through it one behind the other; what a
// step consists of is carried out when it ends, so late as it may be, in order with the others.
class FakePipe {
 public:
  // Rows as they were given: what the tables become later is no matter to them.
  struct GivenRows {
    sched::Slice slice;
    std::vector<int32_t> pages;
    int32_t state_slot = -1;
  };
  struct Pass {
    std::vector<std::pair<cache::Transfer, StoredBytes>> writes{};
    std::vector<GivenRows> rows{};
    sched::Time began{};
    sched::Time ends{};
  };

  // The workload outlives it.
  explicit FakePipe(const Workload& workload);

  FakeStore& store() { return store_; }
  FakeDevice& device() { return device_; }
  bool is_empty() const { return num_in_flight_ == 0; }

  // One of a pass's transfers, before it begins; saves only while the pipe is empty, since they
  // have to be read at once. False: a load found nothing.
  bool transfer(const cache::Transfer& transfer, Pass& pass);

  // Says when the pass, which takes so long in all stages together, begins and ends. The one that
  // began first is the first to end.
  void begin(Pass& pass, sched::Duration took, sched::Time now);
  // Its rows are still to be run.
  void end(const Pass& pass);

  // The passes in flight are gone, and what the device held.
  void lose_all();

 private:
  const Workload& workload_;
  FakeStore store_;
  FakeDevice device_;
  std::vector<sched::Time> stage_free_;  // when each stage has done what it was given
  size_t num_in_flight_ = 0;
};

}  // namespace evener::simulate
