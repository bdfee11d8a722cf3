#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "serve/connection.h"
#include "serve/exchange.h"

namespace evener::serve {

// One request of a connection. Passes everything to the connection's strand; does nothing once the
// connection has let go of it.
class ConnectionExchange : public Exchange,
                           public std::enable_shared_from_this<ConnectionExchange> {
 public:
  ConnectionExchange(std::shared_ptr<Connection> connection, HttpRequest request);

  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override;
  void begin_stream(HttpResponse head) override;
  void write(std::string bytes) override;
  void end_stream(AfterStream after) override;
  void fail(const ApiError& error) override;
  void post(Task task) override;
  void note(std::string text) override;
  void on_abort(AbortHandler handler) override;

  // On the strand: tells the handler, or whoever becomes it.
  void abort(AbortReason reason);
  // On the strand: the same when the connection is lost: what the handler answers is dropped.
  void abandon(AbortReason reason);
  // On the strand: nothing reaches the connection from here on.
  void detach();
  std::string take_note() { return std::move(note_); }

 private:
  template <class Action>
  void on_strand(Action action);

  std::shared_ptr<Connection> connection_;  // null once detached; on the strand only
  Connection::Strand strand_;
  HttpRequest request_;
  std::string note_;
  AbortHandler abort_handler_;
  std::optional<AbortReason> pending_abort_;
  std::atomic<size_t> num_posted_ = 0;
};

}  // namespace evener::serve
