#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "base/error.h"
#include "engine/restart_policy.h"

namespace evener::engine {

// An error of ranks without advice, in one line.
std::string reason_of(const Error& error);

void log_failure(const Error& error);

// For clients, who are told no `where` and are to know which rank it was.
Error without_where(Error error);

// What restart() says after interrupt(). Code: cancelled.
Error restart_interrupted();

// The wait before a restart, which can be cut short from any thread; then all later ones are.
class RestartWait {
 public:
  // Says in the log that it waits. False once it was interrupted.
  bool wait(RestartPolicy::Duration duration);
  void interrupt();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool interrupted_ = false;
};

}  // namespace evener::engine
