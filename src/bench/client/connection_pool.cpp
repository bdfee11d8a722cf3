#include "bench/client/connection_pool.h"

#include <utility>

namespace evener::bench {

std::shared_ptr<Connection> ConnectionPool::take() {
  while (!idle_.empty()) {
    std::shared_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_open()) return connection;
  }
  return nullptr;
}

void ConnectionPool::give_back(std::shared_ptr<Connection> connection) {
  std::erase_if(idle_, [](const auto& idle) { return !idle->is_open(); });
  connection->listen(nullptr);
  if (connection->is_open()) idle_.push_back(std::move(connection));
}

void ConnectionPool::close_all() {
  for (const auto& connection : idle_) connection->close();
  idle_.clear();
}

}  // namespace evener::bench
