#include "bench/client/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/log.h"

namespace evener::bench {
namespace {

// Then it is another connection's turn.
constexpr int kReadsInARow = 8;
constexpr size_t kBytesInARow = size_t{256} << 10;

bool is_not_yet(const boost::system::error_code& error) {
  return error == boost::asio::error::would_block || error == boost::asio::error::try_again ||
         error == boost::asio::error::interrupted;
}

}  // namespace

Connection::Connection(ConnectionContext& context)
    : context_(context), resolver_(context.io), socket_(context.io), connect_timer_(context.io) {}

void Connection::open() {
  phase_ = Phase::connecting;
  connect_timer_.expires_after(context_.connect_timeout);
  connect_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->on_connect_timeout();
  });
  resolver_.async_resolve(
      context_.url.host, context_.url.port,
      [self = shared_from_this()](const ErrorCode& error, const auto& endpoints) {
        self->on_resolved(error, endpoints);
      });
}

void Connection::on_resolved(const ErrorCode& error, const Tcp::resolver::results_type& endpoints) {
  if (phase_ != Phase::connecting) return;
  if (error) {
    return fail_connecting(
        fmt::format("there is no address of '{}' ({})", context_.url.host, error.message()));
  }
  boost::asio::async_connect(
      socket_, endpoints,
      [self = shared_from_this()](const ErrorCode& outcome, const Tcp::endpoint&) {
        self->on_connected(outcome);
      });
}

void Connection::on_connected(const ErrorCode& error) {
  if (phase_ != Phase::connecting) return;
  if (error == boost::asio::error::connection_refused) {
    return fail_connecting(
        fmt::format("nothing listens at {}: start the server, or check host and port",
                    context_.url.authority()));
  }
  if (error) {
    return fail_connecting(
        fmt::format("cannot connect to {} ({})", context_.url.authority(), error.message()));
  }
  ErrorCode failed;
  if (socket_.non_blocking(true, failed)) return fail_connecting(failed.message());
  if (socket_.set_option(Tcp::no_delay(true), failed)) return fail_connecting(failed.message());
  if (context_.tls != nullptr) return begin_handshake();
  wait_readable();
  become_open();
}

void Connection::become_open() {
  phase_ = Phase::open;
  connect_timer_.cancel();
  if (listener_ != nullptr) listener_->on_open();
}

void Connection::begin_handshake() {
  Result<std::unique_ptr<TlsSession>> session = context_.tls->new_session();
  if (!session) return fail_connecting(session.error().why);
  tls_ = std::move(*session);
  phase_ = Phase::handshake;
  wait_readable();
  take_tls({}, Clock::now());
}

void Connection::on_connect_timeout() {
  if (phase_ == Phase::handshake) {
    return fail_connecting(
        fmt::format("{} takes connections and does not finish a TLS handshake "
                    "within {} ms",
                    context_.url.authority(), context_.connect_timeout.count()));
  }
  if (phase_ != Phase::connecting) return;
  fail_connecting(
      fmt::format("no connection to {} within {} ms: is it the right host, and does a "
                  "firewall let it through?",
                  context_.url.authority(), context_.connect_timeout.count()));
}

void Connection::wait_readable() {
  socket_.async_wait(Tcp::socket::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->read_ready();
  });
}

void Connection::read_ready() {
  const auto self = shared_from_this();
  for (int i = 0; i < kReadsInARow && phase_ != Phase::closed; ++i) {
    ErrorCode error;
    std::vector<char>& buffer = context_.read_buffer;
    const size_t size = socket_.read_some(boost::asio::buffer(buffer), error);
    const Clock::time_point at = Clock::now();
    if (is_not_yet(error)) break;
    if (error == boost::asio::error::eof) return end("the server closed the connection", at);
    if (error) return end("the connection broke: " + error.message(), at);
    if (!take({buffer.data(), size}, at)) return;
    if (size < buffer.size()) break;  // that was all; a further read would say so
  }
  if (phase_ != Phase::closed) wait_readable();
}

// False: closed.
bool Connection::take(std::string_view bytes, Clock::time_point at) {
  if (tls_ != nullptr) return take_tls(bytes, at);
  tell_bytes(bytes, at);
  return phase_ != Phase::closed;
}

bool Connection::take_tls(std::string_view bytes, Clock::time_point at) {
  std::string plain;
  const TlsSession::State state = tls_->feed(bytes, plain);
  send_raw(tls_->take_output());
  if (state == TlsSession::State::failed && phase_ == Phase::handshake) {
    fail_connecting(tls_->why());
    return false;
  }
  if (state == TlsSession::State::open && phase_ == Phase::handshake) become_open();
  if (!plain.empty()) tell_bytes(plain, at);
  if (state == TlsSession::State::failed) end(tls_->why(), at);
  if (state == TlsSession::State::ended) end("the server closed the connection", at);
  return phase_ != Phase::closed;
}

void Connection::tell_bytes(std::string_view bytes, Clock::time_point at) {
  if (listener_ == nullptr) return close();  // an answer to nothing
  listener_->on_bytes(bytes, at);
}

void Connection::send(std::string bytes) {
  if (phase_ != Phase::open) return;
  if (tls_ == nullptr) return send_raw(std::move(bytes));
  tls_->write(bytes);
  send_raw(tls_->take_output());
}

void Connection::send_raw(std::string bytes) {
  if (!unsent_.empty()) {
    unsent_ += bytes;
    return;
  }
  unsent_ = std::move(bytes);
  num_sent_ = 0;
  write_some();
}

void Connection::write_some() {
  const size_t turn_end = num_sent_ + kBytesInARow;
  while (phase_ != Phase::closed && num_sent_ < unsent_.size()) {
    ErrorCode error;
    const size_t size = std::min(unsent_.size(), turn_end) - num_sent_;
    if (size > 0) {
      num_sent_ += socket_.write_some(boost::asio::buffer(unsent_.data() + num_sent_, size), error);
    }
    if (size == 0 || is_not_yet(error)) {
      socket_.async_wait(Tcp::socket::wait_write,
                         [self = shared_from_this()](const ErrorCode& outcome) {
                           if (!outcome) self->write_some();
                         });
      return;
    }
    if (error) break;  // the server may have answered before it closed: reading tells what happened
  }
  unsent_.clear();
}

void Connection::end(std::string why, Clock::time_point at) {
  const bool connecting = phase_ == Phase::handshake;
  fail(connecting ? Failure::Kind::no_connection : Failure::Kind::reset,
       connecting ? why + " inside the TLS handshake" : std::move(why), at);
}

void Connection::fail_connecting(std::string why) {
  fail(Failure::Kind::no_connection, std::move(why), Clock::now());
}

void Connection::fail(Failure::Kind kind, std::string why, Clock::time_point at) {
  Listener* const listener = std::exchange(listener_, nullptr);
  close();
  if (listener != nullptr) listener->on_closed({.kind = kind, .why = std::move(why)}, at);
}

void Connection::close() {
  listener_ = nullptr;
  phase_ = Phase::closed;
  connect_timer_.cancel();
  resolver_.cancel();
  ErrorCode error;
  if (socket_.close(error)) log::debug("closing a connection: {}", error.message());
}

}  // namespace evener::bench
