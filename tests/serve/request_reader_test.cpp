// HTTP requests however they are cut into reads; what is refused.
#include "serve/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace evener::serve {
namespace {

// Feeds `bytes` in pieces of `piece` bytes as a connection does, until a request is complete.
std::expected<std::string, ApiError> rest_after_request(RequestReader& reader,
                                                        std::string_view bytes, size_t piece) {
  std::string received;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    received += bytes.substr(at, piece);
    for (;;) {
      if (reader.state() == RequestReader::State::done) break;
      const auto used = reader.feed(received);
      if (!used) return std::unexpected(used.error());
      received.erase(0, *used);
      if (*used == 0) break;
    }
  }
  return received;
}

constexpr std::string_view kChunked =
    "POST /v1//tokenize?x=1 HTTP/1.1\r\nHost: h\r\nX-Request-Id: mine-1\r\n"
    "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n";

TEST(RequestReader, ReadsChunkedBodiesHoweverTheyAreCut) {
  for (size_t piece = 1; piece <= kChunked.size(); ++piece) {
    RequestReader reader({});
    const auto rest = rest_after_request(reader, kChunked, piece);
    ASSERT_TRUE(rest.has_value()) << piece << rest.error().message;
    ASSERT_EQ(reader.state(), RequestReader::State::done) << piece;
    EXPECT_EQ(*rest, "");
    EXPECT_TRUE(reader.keep_alive());
    const HttpRequest request = reader.take_request();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/tokenize");
    EXPECT_EQ(request.id, "mine-1");
    EXPECT_EQ(request.body, "abcdefg");
  }
}

TEST(RequestReader, LeavesTheNextRequestAlone) {
  RequestReader reader({});
  const std::string first = "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi";
  const std::string second = "GET /b HTTP/1.1\r\n\r\n";
  EXPECT_EQ(rest_after_request(reader, first + second, 4096).value(), second);
  EXPECT_EQ(reader.take_request().body, "hi");
  EXPECT_EQ(rest_after_request(reader, second, 4096).value(), "");
  EXPECT_EQ(reader.take_request().path, "/b");
}

int status_of(std::string_view bytes, RequestLimits limits = {}) {
  RequestReader reader(limits);
  const auto rest = rest_after_request(reader, bytes, 7);
  return rest ? 0 : rest.error().status;
}

TEST(RequestReader, RefusesWhatIsTooLargeOrNoHttp) {
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x')), 431);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n",
                      {.header_bytes_max = 1000, .body_bytes_max = 10}),
            413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n",
                      {.header_bytes_max = 1000, .body_bytes_max = 10}),
            413);
  EXPECT_EQ(status_of("\x16\x03\x01 TLS\r\n\r\n"), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"), 400);
  EXPECT_EQ(
      status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx"),
      400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nx"), 400);
}

TEST(RequestReader, MakesAnIdWhenTheClientsCouldDisturbALog) {
  RequestReader reader({});
  EXPECT_TRUE(rest_after_request(reader, "GET / HTTP/1.1\r\nX-Request-Id: a b\r\n\r\n", 4096));
  EXPECT_TRUE(reader.head().id.starts_with("req_"));
}

}  // namespace
}  // namespace evener::serve
