#include "bench/client.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <semaphore>

#include "base/json.h"
#include "bench/client/raw_server.h"

// The client against a server that says exactly what each test wants it to say.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Client> client_for(const std::string& url, const std::string& model = "m") {
  Target target;
  target.url = url;
  target.model = model;
  auto client = Client::create(target, Clock::now());
  EXPECT_TRUE(client) << to_string(client.error());
  return client ? std::move(*client) : nullptr;
}

RequestPlan chat(std::string content = "hello") {
  RequestPlan plan;
  plan.messages = {{.role = "user", .content = std::move(content)}};
  plan.max_tokens = 4;
  plan.timeout = 30s;
  return plan;
}

std::string content_event(std::string_view text) {
  return fmt::format(
      "data: {{\"id\":\"a1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}\n\n",
      json::Value(text).dump());
}

std::string finish_event(std::string_view reason) {
  return fmt::format(
      "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{}\"}}]}}\n\n",
      reason);
}

const std::string kRole =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const std::string kUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
    "\"prompt_tokens_details\":{\"cached_tokens\":3},"
    "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n";
const std::string kDone = "data: [DONE]\n\n";

std::string chunked(std::string_view text) {
  return fmt::format("{:x}\r\n{}\r\n", text.size(), text);
}

const std::string kChunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunked_stream(std::string_view events) {
  return kChunkedHead + chunked(events) + "0\r\n\r\n";
}

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
      connection.send(chunked_stream(content_event("a") + finish_event("stop") + kDone));
    }
  });
  const auto client = client_for(server.url());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client->ask(chat()).finish, Finish::stop);
  EXPECT_EQ(server.num_connections(), 1U);
}

// The first connection closes after its answer, as servers do with kept connections; whether the
// client sees that before or after it has sent again, the second request is answered.
TEST(BenchClient, AKeptConnectionThatHasEndedIsReplaced) {
  std::latch closed(1);
  RawServer server([&](RawConnection& connection, size_t index) {
    connection.read_request();
    connection.send(chunked_stream(content_event("a") + finish_event("stop") + kDone));
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

TEST(BenchClient, NothingListensIsSaidWithTheRemedy) {
  uint16_t port = 0;
  {
    RawServer gone([](RawConnection&, size_t) {});
    port = gone.port();
  }
  const RequestRecord record = client_for(fmt::format("http://127.0.0.1:{}", port))->ask(chat());
  EXPECT_EQ(record.finish, Finish::error);
  EXPECT_EQ(record.fault, Fault::server_down);
  EXPECT_EQ(record.http_status, 0);
  EXPECT_EQ(record.error, fmt::format("nothing listens at 127.0.0.1:{}: start the server, or check "
                                      "host and port",
                                      port));
}

}  // namespace
}  // namespace evener::bench
