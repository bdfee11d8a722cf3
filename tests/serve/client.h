#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evener::serve {

// A blocking client on a raw loopback socket: says exactly the bytes a test wants to say. Reads
// give up, with what they have, after a minute.
class Client {
 public:
  explicit Client(uint16_t port);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::string_view bytes);
  // "POST PATH" with the body and its length.
  void post(std::string_view path, std::string_view body, std::string_view headers = "");
  void get(std::string_view path, std::string_view headers = "");
  void end_sending();  // half-close
  void close();        // at once, as a program that ends

  // Up to and with `mark`; all until the end if it never comes.
  std::string read_until(std::string_view mark);
  std::string read_to_end() { return read_until("\n\nno such bytes\n\n"); }
  // Header and, by its Content-Length, body of one answer.
  std::string read_answer();

 private:
  bool read_some();

  int socket_ = -1;
  std::string received_;
};

}  // namespace evener::serve
