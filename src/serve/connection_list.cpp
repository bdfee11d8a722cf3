#include "serve/connection_list.h"

#include <vector>

#include "serve/connection.h"

namespace evener::serve {

void ConnectionList::add(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.insert(connection);
}

void ConnectionList::remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  changed_.notify_all();
}

size_t ConnectionList::size() const {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

void ConnectionList::for_each(const std::function<void(Connection&)>& visit) const {
  std::vector<std::shared_ptr<Connection>> alive;
  {
    const std::lock_guard lock(mutex_);
    for (Connection* connection : connections_) {
      // Empty for one whose destructor waits for this mutex.
      if (auto held = connection->weak_from_this().lock()) alive.push_back(std::move(held));
    }
  }
  for (const auto& connection : alive) visit(*connection);
}

bool ConnectionList::wait_until_empty(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return connections_.empty(); });
}

}  // namespace evener::serve
