#include <gtest/gtest.h>

#include <future>

#include "bench/client.h"
#include "bench/client/answers.h"
#include "bench/client/raw_server.h"

// What servers do wrong, and what the record says of it.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// The record of one request to a server that answers it with these bytes and closes.
RequestRecord ask_server_that_says(std::string_view answer, RequestPlan plan = chat()) {
  RawServer server([&](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(answer);
  });
  const RequestRecord record = client_for(server.url())->ask(std::move(plan));
  EXPECT_EQ(server.num_connections(), 1U) << "it was asked again";
  return record;
}

std::string json_answer(int status, std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
      body.size(), body);
}

struct Expected {
  Fault fault;
  std::string_view error;
};

void expect_error(const RequestRecord& record, const Expected& expected) {
  EXPECT_EQ(record.finish, Finish::error);
  ASSERT_TRUE(record.fault) << record.error;
  EXPECT_EQ(to_word(*record.fault), to_word(expected.fault)) << record.error;
  EXPECT_EQ(record.error, expected.error);
}

TEST(ClientFaults, ARefusalIsToldInTheServersWordsWithTheRemedy) {
  struct Case {
    int status;
    std::string_view body;
    Expected expected;
  };
  const Case cases[] = {
      {401,
       R"({"error":{"message":"invalid key"}})",
       {Fault::refused,
        "the server answered HTTP 401: invalid key; give the server's key with "
        "--api-key"}},
      {403,
       R"({"detail":"no"})",
       {Fault::refused, "the server answered HTTP 403: no; the key given may not do this"}},
      {404,
       R"({"error":{"message":"model 'm' does not exist"}})",
       {Fault::refused,
        "the server answered HTTP 404: model 'm' does not exist; is --model one of this server's, "
        "and is '/v1' right below its URL?"}},
      {429,
       R"({"message":"slow down"})",
       {Fault::http_error,
        "the server answered HTTP 429: slow down; the server limits requests: "
        "ask for fewer at a time"}},
      {500,
       "line\x1b[31m\nred",
       {Fault::http_error, "the server answered HTTP 500: line\\x1b[31m\\nred"}},
      {503, "", {Fault::http_error, "the server answered HTTP 503"}},
  };
  for (const Case& c : cases) {
    const RequestRecord record = ask_server_that_says(json_answer(c.status, c.body));
    expect_error(record, c.expected);
    EXPECT_EQ(record.http_status, c.status);
    EXPECT_TRUE(record.events.empty());
  }
  const RequestRecord moved = ask_server_that_says(
      "HTTP/1.1 301 X\r\nLocation: https://example.org/v1/chat/completions\r\n"
      "Content-Length: 0\r\n\r\n");
  expect_error(moved, {Fault::http_error,
                       "the server answered HTTP 301; it has moved to "
                       "'https://example.org/v1/chat/completions': give that URL"});
}

TEST(ClientFaults, ALongRefusalIsCutShort) {
  const std::string page(1 << 20, 'x');
  const RequestRecord record = ask_server_that_says(json_answer(500, page));
  EXPECT_EQ(record.fault, Fault::http_error);
  EXPECT_LT(record.error.size(), 400U);
}

TEST(ClientFaults, NothingListensIsSaidWithTheRemedy) {
  uint16_t port = 0;
  {
    const RawServer gone([](RawConnection&, size_t) {});
    port = gone.port();
  }
  const RequestRecord record = client_for(fmt::format("http://127.0.0.1:{}", port))->ask(chat());
  expect_error(record, {Fault::server_down,
                        fmt::format("nothing listens at 127.0.0.1:{}: start the server, or check "
                                    "host and port",
                                    port)});
  EXPECT_EQ(record.http_status, 0);
  EXPECT_EQ(record.sent, 0ns);
}

TEST(ClientFaults, AFreshConnectionThatEndsWithoutAnAnswerIsNotTriedAgain) {
  expect_error(ask_server_that_says(""),
               {Fault::reset, "the server closed the connection before it answered"});
}

TEST(ClientFaults, AResetInsideAnAnswerKeepsWhatCame) {
  std::promise<void> heard;
  RawServer server([&](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(kChunkedHead + chunked(content_event("a")));
    heard.get_future().wait();
    connection.reset();
  });
  const auto client = client_for(server.url());
  std::promise<RequestRecord> ended;
  client->start(chat(),
                {.on_event = [&](const OutputEvent&, std::string_view) { heard.set_value(); },
                 .on_end = [&](RequestRecord record) { ended.set_value(std::move(record)); }});
  const RequestRecord record = ended.get_future().get();
  expect_error(record,
               {Fault::reset, "the connection broke: Connection reset by peer inside the answer"});
  EXPECT_EQ(record.events.size(), 1U);
  EXPECT_EQ(record.http_status, 200);
}

TEST(ClientFaults, AStreamThatStopsIsTruncatedOrAReset) {
  // Without chunks or a length the connection's end is the body's end.
  expect_error(ask_server_that_says("HTTP/1.1 200 OK\r\n\r\n" + content_event("a")),
               {Fault::truncated_stream,
                "the stream ended after 1 events without finish_reason and [DONE]"});
  expect_error(ask_server_that_says(kChunkedHead + chunked(content_event("a")) + "0\r\n\r\n"),
               {Fault::truncated_stream,
                "the stream ended after 1 events without finish_reason and [DONE]"});
  expect_error(ask_server_that_says(kChunkedHead + chunked(content_event("a"))),
               {Fault::reset, "the server closed the connection inside the answer"});
}

TEST(ClientFaults, AnAnswerThatIsNoStreamIsNotTakenForOne) {
  expect_error(
      ask_server_that_says(json_answer(200, R"({"choices":[{"message":{"content":"a"}}]})")),
      {Fault::http_error,
       "asked for a stream, and the server answered with type 'application/json'"});
  expect_error(ask_server_that_says(json_answer(200, R"({"error":"busy"})")),
               {Fault::error_event, "the server answered with an error: busy"});
  expect_error(ask_server_that_says("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                                    "Content-Length: 6\r\n\r\n<html>"),
               {Fault::http_error, "the answer is no JSON object: '<html>'"});
  expect_error(ask_server_that_says("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                    "Content-Encoding: gzip\r\n\r\n\x1f\x8b"),
               {Fault::http_error,
                "the answer is compressed ('gzip'), which nobody asked for: switch that off in the "
                "proxy, for it holds events back"});
}

TEST(ClientFaults, WhatSpeaksNoHttpIsNamed) {
  const RequestRecord record = ask_server_that_says("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_EQ(record.fault, Fault::http_error);
  EXPECT_NE(record.error.find(" does not speak HTTP as it should: it is no HTTP answer ("),
            std::string::npos)
      << record.error;
}

TEST(ClientFaults, AnErrorInsideTheStreamEndsIt) {
  expect_error(ask_server_that_says(kChunkedHead + chunked(content_event("a") +
                                                           "data: {\"error\":\"no memory\"}\n\n" +
                                                           content_event("b"))),
               {Fault::error_event, "the server reported an error inside the stream: no memory"});
}

// Some proxies keep the connection open after the last event and say no more.
TEST(ClientFaults, AStreamThatIsOverNeedsNoEndOfItsBody) {
  RawServer server([](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(kChunkedHead + chunked(kGoodEvents));
    connection.wait_for_end();
  });
  const RequestRecord record = client_for(server.url())->ask(chat());
  EXPECT_EQ(record.finish, Finish::stop) << record.error;
  EXPECT_EQ(record.ended, record.events.at(0).at);  // not when we lost patience
}

TEST(ClientFaults, OtherRoutesTellThatNobodyIsThere) {
  RawServer server([](RawConnection&, size_t) {});
  const auto client = client_for(server.url() + "/x");
  const Result<HttpAnswer> answer = client->get("/metrics");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::unavailable);
  const std::string text = to_string(answer.error());
  EXPECT_TRUE(text.starts_with("cannot ask the server: GET /x/metrics: ")) << text;
}

TEST(ClientFaults, AnEndlessRouteIsCutOff) {
  RawServer server([](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    const std::string mib(size_t{1} << 20, 'x');
    for (int i = 0; i < 70; ++i) connection.send(mib);
  });
  const Result<HttpAnswer> answer = client_for(server.url())->get("/metrics", 60s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::limit_exceeded);
}

TEST(ClientFaults, AKeyThatNoHeaderCanCarryIsRefused) {
  Target target = target_at("http://127.0.0.1:1");
  target.api_key = "a\r\nX: y";
  const auto client = Client::create(target, Clock::now());
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace evener::bench
