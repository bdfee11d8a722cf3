#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_handler.h"
#include "serve/request_reader.h"
#include "serve/server_options.h"

namespace evener::serve {

class ConnectionExchange;
class ConnectionList;

// What all connections share; outlives them.
struct ConnectionContext {
  const ServerOptions& options;
  HttpHandler& handler;
  boost::asio::thread_pool& workers;
  ConnectionList& list;
};

// One client's connection: reads requests one after another, hands each to the handler and writes
// its answer. While an answer is being made it goes on reading, a little ahead, because that is how
// a closed connection shows.
//
// A client may close its sending side and still wait for its answer, and to a receiver this looks
// the same as one that has gone. So after such an end the answer goes on and the connection is
// probed: with a comment in a stream, with an interim "100 Continue" before a whole answer. If
// nobody is there the peer's system answers the probe with a reset.
//
// Threads: start(), abort() and close_when_idle() from any; all else on the strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Tcp = boost::asio::ip::tcp;
  using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;

  Connection(Tcp::socket socket, Strand strand, ConnectionContext context);
  ~Connection();

  void start();
  // Ends the running answer with the reason, if there is one.
  void abort(AbortReason reason);
  // Closes now if no request is being answered, else after the answer.
  void close_when_idle();

 private:
  friend class ConnectionExchange;
  class ConnectionList;
  using Clock = std::chrono::steady_clock;
  using ErrorCode = boost::system::error_code;
  enum class Phase {
    reading,    // a request
    answering,  // current_ is set
    lingering,  // said all; waits for the client to hear it
    closed,
  };

  // Reading.
  void read_more();
  void on_read(const ErrorCode& error, size_t num_bytes);
  void parse();
  bool accept_head();
  void dispatch();
  void make_current(HttpRequest request);
  void fail_reading(const ApiError& error);
  void on_client_end();
  void watch_for_reset();
  void probe();
  void set_deadline(std::chrono::milliseconds time);
  void on_deadline();

  // Answering; called by the current exchange on the strand.
  void promise_stream(HttpResponse head);
  void begin_stream_if_promised();
  void begin_answer(const HttpResponse& response, bool stream);
  void write_stream(const std::string& bytes);
  void end_answer(bool keep_connection);
  void fail_answer(const ApiError& error);
  void lose_client(AbortReason reason);

  // Writing.
  void send(std::string_view bytes);
  void write_some();
  void on_written(const ErrorCode& error, size_t num_bytes);
  void finish_if_sent();
  void finish_request();
  void log_request(int status);
  void start_ping(std::chrono::milliseconds wait);
  void close_gently();
  void close();

  Tcp::socket socket_;
  Strand strand_;
  ConnectionContext context_;
  std::string address_;                    // of the client
  boost::asio::steady_timer deadline_;     // of reading or lingering
  boost::asio::steady_timer write_timer_;  // of the client taking bytes
  boost::asio::steady_timer ping_timer_;   // of silence in a stream
  boost::asio::steady_timer probe_timer_;

  Phase phase_ = Phase::reading;
  RequestReader reader_;
  std::string received_;     // not consumed by the reader
  std::vector<char> chunk_;  // where reads go
  bool reading_ = false;
  bool client_ended_ = false;  // it sends no more
  bool watching_ = false;

  std::shared_ptr<ConnectionExchange> current_;
  bool closing_ = false;  // after the running answer
  struct Answer {
    bool keep_alive = true;  // the client wants to go on
    bool http10 = false;
    bool begun = false;
    bool stream = false;
    std::optional<HttpResponse> stream_head = {};  // promised, and waits for the first bytes
    bool chunked = false;                          // pieces of the stream carry their lengths
    bool ended = false;                            // no more bytes will be added
    int status = 0;
    Clock::time_point start = Clock::now();
  } answer_;  // to current_

  std::string unsent_;   // waits
  std::string sending_;  // is with the operating system
  size_t num_sent_ = 0;  // of sending_
  bool writing_ = false;
  Clock::time_point last_write_;
};

}  // namespace evener::serve
