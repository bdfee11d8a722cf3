#pragma once

#include <memory>
#include <vector>

#include "bench/client/connection.h"

namespace evener::bench {

// Connections that are open and not in use, to be used again. The client's thread alone.
class ConnectionPool {
 public:
  explicit ConnectionPool(ConnectionContext& context) : context_(context) {}
  ~ConnectionPool() { close_all(); }

  // The one that was used last, for it is the least likely to be closed by the server; null if
  // there is none.
  std::shared_ptr<Connection> take();
  std::shared_ptr<Connection> make() { return std::make_shared<Connection>(context_); }
  void give_back(std::shared_ptr<Connection> connection);
  void close_all();

 private:
  ConnectionContext& context_;
  std::vector<std::shared_ptr<Connection>> idle_;
};

}  // namespace evener::bench
