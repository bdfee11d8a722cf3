#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace evener::bench {

// One connection to a RawServer, for its script.
class RawConnection {
 public:
  explicit RawConnection(boost::asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  // Speaks TLS from here on; false: the client would not.
  bool secure(boost::asio::ssl::context& context);
  std::string server_name();  // that the client asked for by SNI

  // Head and body of the next request; empty if the client has gone.
  std::string read_request();
  void send(std::string_view bytes);
  // Headers of a stream without a length, then what `events` says; the connection's end ends it.
  void send_stream(std::string_view events);
  void send_json(int status, std::string_view body);
  void reset();         // as a server that dies
  void close();         // as one that ends
  void wait_for_end();  // until the client closes
  void shut();          // from any thread: ends what blocks

 private:
  bool read_some();

  std::mutex closing_;  // by the script and by shut() at once
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<boost::asio::ssl::stream<boost::asio::ip::tcp::socket&>> tls_;
  std::string received_;
};

// A server on a loopback port that says exactly the bytes a test wants it to say.
class RawServer {
 public:
  // Of connection `index`, on a thread of its own. The connection closes when it returns.
  using Script = std::function<void(RawConnection& connection, size_t index)>;

  explicit RawServer(Script script);
  ~RawServer() { stop(); }
  // Ends all scripts: what they have written is for the test to read.
  void stop();

  uint16_t port() const { return port_; }
  std::string url() const;
  size_t num_connections();

 private:
  void accept_all();

  Script script_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  uint16_t port_ = 0;
  std::mutex mutex_;
  bool stopping_ = false;
  std::vector<std::unique_ptr<RawConnection>> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_thread_;
};

}  // namespace evener::bench
