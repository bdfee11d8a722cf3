#include "serve/client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace evener::serve {

Client::Client(uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

Client::~Client() { close(); }

void Client::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void Client::end_sending() { shutdown(socket_, SHUT_WR); }

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // the server has heard enough; the test sees it by the answer
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void Client::post(std::string_view path, std::string_view body, std::string_view headers) {
  send(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}", path,
                   headers, body.size(), body));
}

void Client::get(std::string_view path, std::string_view headers) {
  send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, headers));
}

bool Client::read_some() {
  char bytes[65536];
  const ssize_t n = recv(socket_, bytes, sizeof bytes, 0);
  if (n <= 0) return false;
  received_.append(bytes, static_cast<size_t>(n));
  return true;
}

std::string Client::read_until(std::string_view mark) {
  size_t at = received_.find(mark);
  while (at == std::string::npos && read_some()) at = received_.find(mark);
  const size_t size = at == std::string::npos ? received_.size() : at + mark.size();
  std::string out = received_.substr(0, size);
  received_.erase(0, size);
  return out;
}

std::string Client::read_answer() {
  std::string answer = read_until("\r\n\r\n");
  const size_t at = answer.find("Content-Length: ");
  if (at == std::string::npos) return answer;
  const size_t length = std::strtoul(answer.c_str() + at + 16, nullptr, 10);
  while (received_.size() < length && read_some()) {
  }
  answer += received_.substr(0, length);
  received_.erase(0, length);
  return answer;
}

}  // namespace evener::serve
