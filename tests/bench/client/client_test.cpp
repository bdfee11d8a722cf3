#include "bench/client.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <semaphore>

#include "bench/client/answers.h"
#include "bench/client/raw_server.h"

// The client against a server that says exactly what each test wants it to say.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

TEST(BenchClient, AStreamIsReadWithItsTimesChannelsAndUsage) {
  std::string request;
  RawServer server([&](RawConnection& connection, size_t) {
    request = connection.read_request();
    connection.send_stream(": hello\n\n" + kRole +
                           "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n" +
                           content_event("ä!") + finish_event("stop") + kUsage + kDone);
  });
  RequestPlan plan = chat();
  plan.cell = "sweep/1/0";
  plan.label = "user 1";
  plan.keep_text = true;
  const RequestRecord record = client_for(server.url())->ask(plan);
  server.stop();

  EXPECT_EQ(record.error, "");
  EXPECT_EQ(record.fault, std::nullopt);
  EXPECT_EQ(record.finish, Finish::stop);
  EXPECT_EQ(record.http_status, 200);
  EXPECT_EQ(record.cell, "sweep/1/0");
  EXPECT_EQ(record.label, "user 1");
  EXPECT_EQ(record.request_id, "a1");
  EXPECT_TRUE(record.done_seen);
  EXPECT_EQ(record.text, "ä!");
  EXPECT_EQ(record.num_tokens_in, 7U);
  EXPECT_EQ(record.num_tokens_out, 2U);
  EXPECT_EQ(record.num_tokens_cached, 3U);
  EXPECT_EQ(record.num_tokens_reasoning, 1U);
  EXPECT_EQ(record.num_empty_events, 3U);  // role, finish_reason, usage
  ASSERT_EQ(record.events.size(), 2U);
  EXPECT_EQ(record.events[0].channel, Channel::reasoning);
  EXPECT_EQ(record.events[1].channel, Channel::content);
  EXPECT_EQ(record.events[1].num_bytes, 3U);
  EXPECT_GT(record.sent, 0ns);
  EXPECT_GE(*record.header, record.sent);
  EXPECT_GE(record.events[0].at, *record.header);
  EXPECT_GE(record.events[1].at, record.events[0].at);
  EXPECT_GE(record.ended, record.events[1].at);
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n")) << request;
}

// Each piece is sent when the client has told of the one before, so each is a read of its own.
TEST(BenchClient, EventsOfDifferentReadsHaveDifferentTimesAndThoseOfOneReadTheSame) {
  std::counting_semaphore<> heard(0);
  RawServer server([&](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(kChunkedHead + chunked(content_event("a") + content_event("b")));
    heard.acquire();
    heard.acquire();
    connection.send(chunked(content_event("c") + finish_event("length")) + chunked(kUsage));
    heard.acquire();
    connection.send(chunked(kDone) + "0\r\n\r\n");
  });
  const auto client = client_for(server.url());
  std::promise<RequestRecord> ended;
  client->start(chat(),
                {.on_due = {},
                 .on_event = [&](const OutputEvent&, std::string_view) { heard.release(); },
                 .on_end = [&](RequestRecord record) { ended.set_value(std::move(record)); }});
  const RequestRecord record = ended.get_future().get();

  ASSERT_EQ(record.events.size(), 3U) << record.error;
  EXPECT_EQ(record.events[0].at, record.events[1].at);
  EXPECT_GT(record.events[2].at, record.events[1].at);
  EXPECT_GE(record.ended, record.events[2].at);
  EXPECT_EQ(record.finish, Finish::length);
}

TEST(BenchClient, ConnectionsAreKeptAndUsedAgain) {
  RawServer server([&](RawConnection& connection, size_t) {
    while (!connection.read_request().empty()) {
      connection.send(chunked_stream(kGoodEvents));
    }
  });
  const auto client = client_for(server.url());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client->ask(chat()).finish, Finish::stop);
  EXPECT_EQ(server.num_connections(), 1U);
}

TEST(BenchClient, AConnectionThatTheServerWillCloseIsNotUsedAgain) {
  RawServer server([](RawConnection& connection, size_t index) {
    if (index == 0) {
      connection.read_request();
      connection.send(
          "HTTP/1.1 200 OK\r\nConnection: close\r\n" +
          chunked_stream(kGoodEvents).substr(std::string_view("HTTP/1.1 200 OK\r\n").size()));
      EXPECT_EQ(connection.read_request(), "");
    } else {
      connection.read_request();
      connection.send(chunked_stream(kGoodEvents));
      connection.wait_for_end();
    }
  });
  const auto client = client_for(server.url());
  EXPECT_EQ(client->ask(chat()).error, "");
  EXPECT_EQ(client->ask(chat()).error, "");
  EXPECT_EQ(server.num_connections(), 2U);
}

// The first connection closes after its answer, as servers do with kept connections; whether the
// client sees that before or after it has sent again, the second request is answered.
TEST(BenchClient, AKeptConnectionThatHasEndedIsReplaced) {
  std::latch closed(1);
  RawServer server([&](RawConnection& connection, size_t index) {
    connection.read_request();
    connection.send(chunked_stream(kGoodEvents));
    if (index == 0) {
      connection.close();
      closed.count_down();
    } else {
      connection.wait_for_end();
    }
  });
  const auto client = client_for(server.url());
  EXPECT_EQ(client->ask(chat()).finish, Finish::stop);
  closed.wait();
  const RequestRecord second = client->ask(chat());
  EXPECT_EQ(second.finish, Finish::stop) << second.error;
  EXPECT_EQ(server.num_connections(), 2U);
}

TEST(BenchClient, AFreshConnectionThatEndsWithoutAnAnswerIsNotTriedAgain) {
  RawServer server([&](RawConnection& connection, size_t) { connection.read_request(); });
  const RequestRecord record = client_for(server.url())->ask(chat());
  EXPECT_EQ(record.finish, Finish::error);
  EXPECT_EQ(record.fault, Fault::reset);
  EXPECT_EQ(record.error, "the server closed the connection before it answered");
  EXPECT_EQ(server.num_connections(), 1U);
}

// Proxies and busy networks cut a stream anywhere, also inside a character and between CR and LF.
TEST(BenchClient, AnAnswerIsTheSameInWhateverPiecesItComes) {
  const std::string answer =
      chunked_stream(content_event("ä") + finish_event("stop") + kUsage + "data: [DONE]\r\n\r\n");
  RawServer server([&](RawConnection& connection, size_t) {
    while (!connection.read_request().empty()) {
      for (const char byte : answer) connection.send({&byte, 1});
    }
  });
  RequestPlan plan = chat();
  plan.keep_text = true;
  const auto client = client_for(server.url());
  for (int i = 0; i < 2; ++i) {
    const RequestRecord record = client->ask(plan);
    EXPECT_EQ(record.text, "ä") << record.error;
    EXPECT_EQ(record.finish, Finish::stop);
    EXPECT_EQ(record.num_tokens_in, 7U);
    EXPECT_TRUE(record.done_seen);
  }
  EXPECT_EQ(server.num_connections(), 1U);
}

TEST(BenchClient, AnAnswerThatIsNotStreamedHasNoEvents) {
  std::string request;
  RawServer server([&](RawConnection& connection, size_t) {
    request = connection.read_request();
    connection.send_json(200, R"({"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],
                                  "usage":{"prompt_tokens":3,"completion_tokens":1}})");
  });
  RequestPlan plan = chat();
  plan.stream = false;
  plan.keep_text = true;
  const RequestRecord record = client_for(server.url())->ask(plan);
  server.stop();
  EXPECT_EQ(record.error, "");
  EXPECT_FALSE(record.streamed);
  EXPECT_TRUE(record.events.empty());
  EXPECT_EQ(record.text, "hi");
  EXPECT_EQ(record.num_tokens_out, 1U);
  EXPECT_EQ(record.finish, Finish::stop);
  EXPECT_NE(request.find("\"stream\":false"), std::string::npos) << request;
}

TEST(BenchClient, WithoutAModelTheServersFirstIsAskedForOnce) {
  std::vector<std::string> requests;
  RawServer server([&](RawConnection& connection, size_t) {
    while (true) {
      requests.push_back(connection.read_request());
      if (requests.back().empty()) return;
      if (requests.back().starts_with("GET /p/v1/models ")) {
        connection.send_json(200, R"({"data":[{"id":"first \"one\""},{"id":"second"}]})");
      } else {
        connection.send(chunked_stream(kGoodEvents));
      }
    }
  });
  Target target = target_at(server.url() + "/p/v1");
  target.model = "";
  target.api_key = "k-1";
  {
    const auto client = client_for(target);
    EXPECT_EQ(client->ask(chat()).error, "");
    EXPECT_EQ(client->ask(chat()).error, "");
  }
  server.stop();
  ASSERT_GE(requests.size(), 3U);
  EXPECT_TRUE(requests[1].starts_with("POST /p/v1/chat/completions ")) << requests[1];
  EXPECT_NE(requests[1].find(R"({"model":"first \"one\"",)"), std::string::npos) << requests[1];
  EXPECT_TRUE(requests[2].starts_with("POST /p/v1/chat/completions ")) << requests[2];
  for (const size_t i : {0, 1, 2}) {
    EXPECT_NE(requests[i].find("Authorization: Bearer k-1\r\n"), std::string::npos) << requests[i];
  }
}

TEST(BenchClient, OtherRoutesAreAskedPlainlyAndAnyStatusIsAnAnswer) {
  RawServer server([](RawConnection& connection, size_t) {
    for (std::string request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const bool is_post = request.starts_with("POST /flush_cache HTTP/1.1\r\n");
      connection.send_json(is_post ? 400 : 200, request.substr(request.find("\r\n\r\n") + 4));
    }
  });
  const auto client = client_for(server.url());
  const Result<HttpAnswer> got = client->get("/metrics");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(got->body, "");
  const Result<HttpAnswer> posted = client->post("/flush_cache", "{}");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 400);
  EXPECT_EQ(posted->body, "{}");
}

TEST(BenchClient, AnIpv6AddressIsReached) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor(io);
  boost::system::error_code error;
  const boost::asio::ip::tcp::endpoint loopback(boost::asio::ip::address_v6::loopback(), 0);
  acceptor.open(loopback.protocol(), error);
  if (!error) acceptor.bind(loopback, error);
  if (error) GTEST_SKIP() << "this machine has no IPv6";
  acceptor.listen();
  std::thread server([&] {
    RawConnection connection(acceptor.accept());
    connection.read_request();
    connection.send_stream(kGoodEvents);
  });
  const std::string url = fmt::format("http://[::1]:{}", acceptor.local_endpoint().port());
  EXPECT_EQ(client_for(url)->ask(chat()).finish, Finish::stop);
  server.join();
}

}  // namespace
}  // namespace evener::bench
