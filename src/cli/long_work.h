#pragma once

#include <atomic>
#include <string>

#include "base/progress.h"
#include "base/signals.h"

namespace evener::cli {

// What a command that takes long has: a progress bar, and an end before its end when somebody
// presses Ctrl-C. Make one before anything that starts threads: see SignalWatcher.
class LongWork {
 public:
  LongWork() = default;

  // `done` of `total` of the part called `what`. False: stop as soon as nothing is lost by it.
  bool advance(const std::string& what, double done, double total) {
    progress_.show(what, total > 0 ? done / total : 1);
    return !interrupted_;
  }
  // Set by the first Ctrl-C.
  const std::atomic<bool>& interrupted() const { return interrupted_; }
  // Removes the bar, so that other text can be written.
  void finish() { progress_.clear(); }

 private:
  std::atomic<bool> interrupted_{false};
  SignalWatcher watcher_{[this](int) { interrupted_ = true; }};
  Progress progress_;
};

}  // namespace evener::cli
