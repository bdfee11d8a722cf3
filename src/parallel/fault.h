#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "parallel/grid.h"

namespace evener::parallel {

// Faults on purpose, to see that they do what docs/parallel.md says.
enum class FaultKind {
  exit,     // the rank lets go of its comms, as a thread that ends does
  hang,     // it stays in the call
  corrupt,  // one bit of what the call left on this rank is flipped
  abort,    // its process ends at once, as in a crash: for ranks of several processes
};

struct FaultPlan {
  size_t rank = 0;
  uint64_t after = 0;  // calls of this rank that go well before the fault
  FaultKind kind = FaultKind::exit;
  size_t times = 1;  // it comes back so often: after as many restarts of the ranks all is well
};

// "rank=1,after=100,kind=hang,times=2", each once and in any order; without `after`, 0, without
// `times`, 1. Error: invalid_argument.
Result<FaultPlan> parse_fault(std::string_view text);

// Holds ranks that hang until it is opened.
class HangGate {
 public:
  HangGate() = default;
  HangGate(const HangGate&) = delete;
  HangGate& operator=(const HangGate&) = delete;

  void open();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

// Makes the fault happen in the comms of its rank; leaves others as they are. Whoever wants to join
// the threads of ranks opens the gate before.
void inject_fault(RankComms& comms, const FaultPlan& plan, std::shared_ptr<HangGate> gate);

}  // namespace evener::parallel
