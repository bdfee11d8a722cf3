#include "engine/rank_failure.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/log.h"

namespace evener::engine {

std::string reason_of(const Error& error) {
  return error.where.empty() ? error.why : error.where + ": " + error.why;
}

void log_failure(const Error& error) { log::error("cannot {}: {}", error.doing, reason_of(error)); }

Error without_where(Error error) {
  error.why = reason_of(error);
  error.where = {};
  return error;
}

Error restart_interrupted() {
  return {.code = Code::cancelled,
          .doing = "restart the ranks",
          .where = {},
          .why = "interrupted",
          .remedy = {}};
}

bool RestartWait::wait(RestartPolicy::Duration duration) {
  if (duration.count() > 0) {
    log::warning("the ranks are restarted in {:.1f} s",
                 std::chrono::duration<double>(duration).count());
  }
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, duration, [this] { return interrupted_; });
}

void RestartWait::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

}  // namespace evener::engine
