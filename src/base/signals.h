#pragma once

#include <functional>
#include <memory>
#include <thread>

namespace evener {

// Receives SIGINT and SIGTERM on a thread of its own, where any code may run, instead of in a
// signal handler. Make one at the start of main, before other threads: they inherit the blocked
// signals. While one lives the signals end nothing by themselves.
class SignalWatcher {
 public:
  // `on_signal` runs on the watcher's thread, once a signal. After a third one with nothing done
  // the process ends at once: somebody who insists must be able to leave.
  using Handler = std::function<void(int signal_number)>;
  explicit SignalWatcher(Handler on_signal);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  // Tells the watcher that the last signal was acted upon: the count of insisting starts anew.
  void acknowledge();

 private:
  struct Shared;
  void watch();

  std::unique_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace evener
