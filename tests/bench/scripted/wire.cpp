#include "bench/scripted/wire.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace evener::bench::scripted {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

namespace {

constexpr size_t kBodyBytes = size_t{64} << 20;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

}  // namespace

Wire::Wire(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

bool Wire::read(Request& request) {
  http::request_parser<http::string_body> parser;
  parser.body_limit(kBodyBytes);
  asio::dynamic_string_buffer buffer(received_);
  ErrorCode error;
  http::read(socket_, buffer, parser, error);
  if (error) return false;
  const auto& message = parser.get();
  request.method = text_of(message.method_string());
  std::string target = text_of(message.target());
  const size_t question = target.find('?');
  request.query = question == std::string::npos ? "" : target.substr(question + 1);
  target.resize(std::min(question, target.size()));
  request.path = target.starts_with("/v1/") ? target.substr(3) : target;
  request.authorization = text_of(message[http::field::authorization]);
  request.body = message.body();
  return true;
}

bool Wire::answer(int status, std::string_view type, std::string_view body) {
  return write(fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n{}",
                           status, status == 200 ? "OK" : "Trouble", type, body.size(), body));
}

bool Wire::begin_stream() {
  return write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool Wire::send_part(std::string_view text) {
  return write(fmt::format("{:x}\r\n{}\r\n", text.size(), text));
}

bool Wire::end_stream() { return write("0\r\n\r\n"); }

void Wire::reset() {
  const std::lock_guard lock(ending_);
  ErrorCode ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

void Wire::shut() {
  const std::lock_guard lock(ending_);
  if (socket_.is_open()) ::shutdown(socket_.native_handle(), SHUT_RDWR);
}

bool Wire::write(std::string_view bytes) {
  ErrorCode error;
  asio::write(socket_, asio::buffer(bytes), error);
  return !error;
}

}  // namespace evener::bench::scripted
