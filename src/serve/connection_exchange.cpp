#include "serve/connection_exchange.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace evener::serve {
namespace {

// Updates of a whole request that wait for the strand: reached only when the strand has starved.
constexpr size_t kMaxPosted = 65'536;

}  // namespace

ConnectionExchange::ConnectionExchange(std::shared_ptr<Connection> connection, HttpRequest request)
    : connection_(std::move(connection)),
      strand_(connection_->strand_),
      request_(std::move(request)) {}

template <class Action>
void ConnectionExchange::on_strand(Action action) {
  boost::asio::dispatch(strand_, [self = shared_from_this(), action = std::move(action)]() mutable {
    if (self->connection_) action(*self);
  });
}

void ConnectionExchange::respond(HttpResponse response) {
  on_strand([response = std::move(response)](ConnectionExchange& self) {
    const auto connection = self.connection_;  // ending the answer detaches
    connection->begin_answer(response, false);
    connection->end_answer(true);
  });
}

void ConnectionExchange::begin_stream(HttpResponse head) {
  on_strand([head = std::move(head)](ConnectionExchange& self) {
    self.connection_->promise_stream(head);
  });
}

void ConnectionExchange::fail(const ApiError& error) {
  on_strand([error](ConnectionExchange& self) {
    const auto connection = self.connection_;
    connection->fail_answer(error);
  });
}

void ConnectionExchange::write(std::string bytes) {
  on_strand([bytes = std::move(bytes)](ConnectionExchange& self) {
    const auto connection = self.connection_;
    connection->write_stream(bytes);
  });
}

void ConnectionExchange::end_stream(AfterStream after) {
  on_strand([after](ConnectionExchange& self) {
    const auto connection = self.connection_;
    connection->end_answer(after == AfterStream::keep_connection);
  });
}

// The engine's thread comes through here: it must neither wait nor run the task itself.
void ConnectionExchange::post(Task task) {
  if (num_posted_.fetch_add(1) >= kMaxPosted) {
    num_posted_.fetch_sub(1);
    return on_strand([](ConnectionExchange& self) {
      const auto connection = self.connection_;
      connection->lose_client(AbortReason::reader_too_slow);
    });
  }
  boost::asio::post(strand_, [self = shared_from_this(), task = std::move(task)]() mutable {
    self->num_posted_.fetch_sub(1);
    task();
  });
}

// Also after abandon(): the connection logs the request once its handler has been told.
void ConnectionExchange::note(std::string text) {
  boost::asio::dispatch(strand_, [self = shared_from_this(), text = std::move(text)]() mutable {
    self->note_ = std::move(text);
  });
}

void ConnectionExchange::on_abort(AbortHandler handler) {
  boost::asio::post(strand_, [self = shared_from_this(), handler = std::move(handler)]() mutable {
    if (self->pending_abort_) return handler(*self->pending_abort_);
    if (self->connection_) self->abort_handler_ = std::move(handler);
  });
}

void ConnectionExchange::abort(AbortReason reason) {
  pending_abort_ = reason;
  // The handler answers and so lets itself go: it must not be destroyed while it runs.
  if (AbortHandler handler = std::exchange(abort_handler_, nullptr)) handler(reason);
}

void ConnectionExchange::abandon(AbortReason reason) {
  connection_ = nullptr;
  abort(reason);
}

void ConnectionExchange::detach() {
  connection_ = nullptr;
  abort_handler_ = nullptr;
}

}  // namespace evener::serve
