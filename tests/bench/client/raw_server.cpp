#include "bench/client/raw_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>

namespace evener::bench {

using boost::asio::ip::tcp;
using ErrorCode = boost::system::error_code;

bool RawConnection::secure(boost::asio::ssl::context& context) {
  tls_ = std::make_unique<boost::asio::ssl::stream<tcp::socket&>>(socket_, context);
  ErrorCode error;
  tls_->handshake(boost::asio::ssl::stream_base::server, error);
  return !error;
}

std::string RawConnection::server_name() {
  const char* const name = SSL_get_servername(tls_->native_handle(), TLSEXT_NAMETYPE_host_name);
  return name != nullptr ? name : "";
}

bool RawConnection::read_some() {
  char bytes[65536];
  ErrorCode error;
  const size_t size = tls_ != nullptr ? tls_->read_some(boost::asio::buffer(bytes), error)
                                      : socket_.read_some(boost::asio::buffer(bytes), error);
  received_.append(bytes, size);
  return !error;
}

std::string RawConnection::read_request() {
  size_t end = received_.find("\r\n\r\n");
  while (end == std::string::npos) {
    if (!read_some()) return {};
    end = received_.find("\r\n\r\n");
  }
  size_t length = 0;
  const size_t at = received_.find("Content-Length: ");
  if (at < end) std::from_chars(received_.data() + at + 16, received_.data() + end, length);
  while (received_.size() < end + 4 + length) {
    if (!read_some()) return {};
  }
  std::string request = received_.substr(0, end + 4 + length);
  received_.erase(0, request.size());
  return request;
}

void RawConnection::send(std::string_view bytes) {
  ErrorCode ignored;
  const boost::asio::const_buffer buffer(bytes.data(), bytes.size());
  if (tls_ != nullptr) {
    boost::asio::write(*tls_, buffer, ignored);
  } else {
    boost::asio::write(socket_, buffer, ignored);
  }
}

void RawConnection::send_stream(std::string_view events) {
  send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
  send(events);
}

void RawConnection::send_json(int status, std::string_view body) {
  send(
      fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                  status, body.size(), body));
}

void RawConnection::reset() {
  const std::lock_guard lock(closing_);
  ErrorCode ignored;
  socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void RawConnection::close() {
  const std::lock_guard lock(closing_);
  ErrorCode ignored;
  socket_.close(ignored);
}

void RawConnection::wait_for_end() {
  while (read_some()) {
  }
}

void RawConnection::shut() {
  const std::lock_guard lock(closing_);
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
}

RawServer::RawServer(Script script)
    : script_(std::move(script)),
      acceptor_(io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
      port_(acceptor_.local_endpoint().port()),
      acceptor_thread_([this] { accept_all(); }) {}

void RawServer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const auto& connection : connections_) connection->shut();
  }
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);  // wakes the accept
  if (acceptor_thread_.joinable()) acceptor_thread_.join();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::string RawServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

size_t RawServer::num_connections() {
  const std::lock_guard lock(mutex_);
  return connections_.size();
}

void RawServer::accept_all() {
  while (true) {
    ErrorCode error;
    tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    const std::lock_guard lock(mutex_);
    if (error || stopping_) return;
    const size_t index = connections_.size();
    connections_.push_back(std::make_unique<RawConnection>(std::move(socket)));
    threads_.emplace_back([this, index, connection = connections_.back().get()] {
      script_(*connection, index);
      connection->shut();
    });
  }
}

}  // namespace evener::bench
