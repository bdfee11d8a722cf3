#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <mutex>
#include <string>
#include <string_view>

#include "base/json.h"

namespace evener::bench::scripted {

struct Request {
  std::string method;
  std::string path;  // without /v1 in front and without its query
  std::string query;
  std::string authorization;
  std::string body;
};

// One connection, as blocking calls. They return false once it is gone.
class Wire {
 public:
  explicit Wire(boost::asio::ip::tcp::socket socket);

  bool read(Request& request);

  bool answer(int status, std::string_view type, std::string_view body);
  bool answer(int status, const json::Value& body) {
    return answer(status, "application/json", body.dump());
  }

  bool begin_stream();                    // header of an event stream, chunked
  bool send_part(std::string_view text);  // in one write
  bool end_stream();                      // orderly
  void reset();                           // RST, whatever was sent

  void shut();  // any thread: calls that block return

 private:
  bool write(std::string_view bytes);

  std::mutex ending_;  // shut() by another thread finds the socket open, or closed, not both
  boost::asio::ip::tcp::socket socket_;
  std::string received_;
};

}  // namespace evener::bench::scripted
