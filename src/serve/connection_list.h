#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace evener::serve {

class Connection;

// The living connections. Any thread.
class ConnectionList {
 public:
  void add(Connection* connection);
  void remove(Connection* connection);  // by the connection's destructor
  size_t size() const;

  // Calls `visit` for each that is still alive.
  void for_each(const std::function<void(Connection&)>& visit) const;

  // True once there is none; false after `patience`.
  bool wait_until_empty(std::chrono::milliseconds patience) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::set<Connection*> connections_;
};

}  // namespace evener::serve
