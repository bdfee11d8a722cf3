#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bench/client/connection.h"
#include "bench/client/connection_pool.h"
#include "bench/client/response_parser.h"

namespace evener::bench {

struct HttpRequest {
  std::string method;
  std::string path;  // below the URL's prefix
  std::string body;
  std::string headers;  // further lines, each with its CRLF
};

// One request and its answer over one connection. The client's thread alone.
//
// A connection that was kept from an earlier answer may turn out to have been closed by the server
// while this request was on its way. Then nobody has seen the request: it is sent once more over
// another connection. That is no retry in the sense of RequestRecord::attempt; nothing else is ever
// sent again.
class Exchange : public std::enable_shared_from_this<Exchange>, private Connection::Listener {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual void on_sent(Clock::time_point at) = 0;  // its first byte; the last such call holds
    virtual void on_head(const ResponseHead& head, Clock::time_point at) = 0;
    // False: it wants no more; ends without failure, and the connection is closed.
    virtual bool on_body(std::string_view bytes, Clock::time_point at) = 0;
    // Exactly once, the last call. No failure: the answer is whole, or on_body said stop.
    virtual void on_end(const std::optional<Failure>& failure, Clock::time_point at) = 0;
  };

  Exchange(ConnectionContext& context, ConnectionPool& pool, HttpRequest request);

  // `handler` lives until on_end. The timeout is for all of it.
  void start(Handler& handler, std::chrono::milliseconds timeout);
  void cancel();
  // All that matters has come: what is left may take this long, for the connection's sake.
  void expect_end_within(std::chrono::milliseconds time);

 private:
  void on_open() override;
  void on_bytes(std::string_view bytes, Clock::time_point at) override;
  void on_closed(const Failure& failure, Clock::time_point at) override;
  void connect();
  void set_deadline(std::chrono::milliseconds time);
  void on_deadline();
  void tell_head(Clock::time_point at);
  void end(const std::optional<Failure>& failure, Clock::time_point at);
  std::string head_and_body() const;

  ConnectionContext& context_;
  ConnectionPool& pool_;
  HttpRequest request_;
  Handler* handler_ = nullptr;  // null: ended
  boost::asio::steady_timer deadline_;
  std::chrono::milliseconds timeout_{0};
  std::shared_ptr<Connection> connection_;
  ResponseParser parser_;
  Clock::time_point sent_;
  bool reused_ = false;  // the connection had an earlier answer
  bool heard_ = false;   // any byte of an answer
  bool told_head_ = false;
};

}  // namespace evener::bench
