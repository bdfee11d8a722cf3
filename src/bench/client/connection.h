#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/client/failure.h"
#include "bench/client/tls.h"
#include "bench/client/url.h"
#include "bench/record.h"

namespace evener::bench {

// What the connections of one client share; outlives them. All of it is for the client's thread.
struct ConnectionContext {
  boost::asio::io_context& io;
  Url url;
  std::chrono::milliseconds connect_timeout;
  std::unique_ptr<TlsContext> tls;  // null: plain
  std::vector<char> read_buffer;    // of whichever connection reads
};

// One connection to the server. It always watches for what the server sends, also while nobody
// uses it: that is how a kept connection shows that it has ended.
//
// The client's thread alone. `this` may be dropped in every call to the listener.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_open() = 0;
    // `at`: when the read returned.
    virtual void on_bytes(std::string_view bytes, Clock::time_point at) = 0;
    // It failed or the server ended it; the last call.
    virtual void on_closed(const Failure& failure, Clock::time_point at) = 0;
  };

  explicit Connection(ConnectionContext& context);

  void open();
  void listen(Listener* listener) { listener_ = listener; }  // null: nobody; bytes then close it
  void send(std::string bytes);                              // once open
  void close();                                              // the listener hears nothing more

  bool is_open() const { return phase_ == Phase::open; }

 private:
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;
  enum class Phase { closed, connecting, handshake, open };

  void on_resolved(const ErrorCode& error, const Tcp::resolver::results_type& endpoints);
  void on_connected(const ErrorCode& error);
  void on_connect_timeout();
  void begin_handshake();
  void become_open();
  bool take(std::string_view bytes, Clock::time_point at);
  bool take_tls(std::string_view bytes, Clock::time_point at);
  void tell_bytes(std::string_view bytes, Clock::time_point at);
  void wait_readable();
  void read_ready();
  void send_raw(std::string bytes);
  void write_some();
  void end(std::string why, Clock::time_point at);
  void fail(Failure::Kind kind, std::string why, Clock::time_point at);
  void fail_connecting(std::string why);

  ConnectionContext& context_;
  Tcp::resolver resolver_;
  Tcp::socket socket_;
  boost::asio::steady_timer connect_timer_;
  std::unique_ptr<TlsSession> tls_;  // null: plain
  Listener* listener_ = nullptr;
  Phase phase_ = Phase::closed;
  std::string unsent_;
  size_t num_sent_ = 0;  // of unsent_
};

}  // namespace evener::bench
