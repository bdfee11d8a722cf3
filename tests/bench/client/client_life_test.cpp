#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <mutex>

#include "bench/client.h"
#include "bench/client/answers.h"
#include "bench/client/raw_server.h"

// Requests that are cancelled, wait for their time, run out of it or outlive their client.

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// Answers nothing; ends when the client does.
RawServer::Script silent() {
  return [](RawConnection& connection, size_t) { connection.wait_for_end(); };
}

TEST(ClientLife, PatienceEnds) {
  RawServer server([](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(kChunkedHead + chunked(content_event("a")));
    connection.wait_for_end();
  });
  RequestPlan plan = chat();
  plan.timeout = 30ms;
  const RequestRecord record = client_for(server.url())->ask(plan);
  EXPECT_EQ(record.finish, Finish::timeout);
  EXPECT_EQ(record.fault, Fault::timed_out);
  EXPECT_EQ(record.error, "no whole answer within 30 ms");
}

TEST(ClientLife, CancellingInsideAnEventEndsTheRequestAndItsConnection) {
  std::promise<void> closed;
  RawServer server([&](RawConnection& connection, size_t) {
    connection.read_request();
    connection.send(kChunkedHead + chunked(content_event("a") + content_event("b")));
    connection.wait_for_end();
    closed.set_value();
  });
  const auto client = client_for(server.url());
  std::promise<RequestRecord> ended;
  std::promise<Client::RequestNumber> number;
  const auto known = number.get_future().share();
  number.set_value(client->start(
      chat(),
      {.on_event = [&](const OutputEvent&, std::string_view) { client->cancel(known.get()); },
       .on_end = [&](RequestRecord record) { ended.set_value(std::move(record)); }}));
  const RequestRecord record = ended.get_future().get();
  EXPECT_EQ(record.finish, Finish::cancelled);
  EXPECT_EQ(record.fault, std::nullopt);
  EXPECT_EQ(record.error, "");
  EXPECT_EQ(record.events.size(), 1U);
  closed.get_future().wait();
  client->cancel(known.get());  // long ended
  client->cancel(77);           // never was
}

TEST(ClientLife, AClientThatGoesCancelsWhatRuns) {
  RawServer server(silent());
  std::vector<Finish> finishes;
  auto client = client_for(server.url());
  Client* const asked = client.get();
  for (int i = 0; i < 20; ++i) {
    client->start(
        chat(), {.on_end = [&](const RequestRecord& record) {
          finishes.push_back(record.finish);
          if (finishes.size() > 20) return;  // these are what was started below
          asked->start(
              chat(),
              {.on_due =
                   [] {
                     ADD_FAILURE() << "sent by a client that goes";
                     return true;
                   },
               .on_end = [&](const RequestRecord& late) { finishes.push_back(late.finish); }});
        }});
  }
  client->call_at(Clock::now() + 1h, [] { ADD_FAILURE() << "called after its client"; });
  client.reset();
  EXPECT_GE(finishes.size(), 21U);
  for (const Finish finish : finishes) EXPECT_EQ(finish, Finish::cancelled);
}

TEST(ClientLife, ARequestWaitsForItsTimeAndMayBeDroppedThen) {
  std::atomic<int> num_requests = 0;
  RawServer server([&](RawConnection& connection, size_t) {
    while (!connection.read_request().empty()) {
      ++num_requests;
      connection.send(chunked_stream(kGoodEvents));
    }
  });
  Target target = target_at(server.url());
  const Clock::time_point start = Clock::now();
  const auto client = std::move(Client::create(target, start).value());
  RequestPlan plan = chat();
  plan.scheduled = Clock::now() + 20ms;
  const RequestRecord record = client->ask(plan);
  EXPECT_EQ(record.scheduled, *plan.scheduled - start);
  EXPECT_GE(record.sent, *record.scheduled);

  std::promise<RequestRecord> ended;
  client->start(plan, {.on_due = [] { return false; },
                       .on_end = [&](RequestRecord r) { ended.set_value(std::move(r)); }});
  EXPECT_EQ(ended.get_future().get().finish, Finish::cancelled);
  EXPECT_EQ(num_requests, 1);
}

TEST(ClientLife, ARequestThatWaitsForItsTimeCanBeCancelled) {
  RawServer server(silent());
  const auto client = client_for(server.url());
  RequestPlan plan = chat();
  plan.scheduled = Clock::now() + 1h;
  std::promise<RequestRecord> ended;
  const auto number =
      client->start(plan, {.on_end = [&](RequestRecord r) { ended.set_value(std::move(r)); }});
  client->cancel(number);
  EXPECT_EQ(ended.get_future().get().finish, Finish::cancelled);
  EXPECT_EQ(server.num_connections(), 0U);
}

TEST(ClientLife, CallsComeInTheOrderOfTheirTimesAndNotBefore) {
  const auto client = client_for("http://127.0.0.1:1");
  std::vector<int> order;
  std::promise<void> all;
  const Clock::time_point now = Clock::now();
  client->call_at(now + 10ms, [&] {
    EXPECT_GE(Clock::now(), now + 10ms);
    order.push_back(2);
    all.set_value();
  });
  client->call_at(now + 5ms, [&] { order.push_back(1); });
  all.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// The server answers none until all have come: that many are under way at once.
TEST(ClientLife, ManyRequestsRunAtOnce) {
  constexpr int kNum = 64;
  std::latch all_here(kNum);
  RawServer server([&](RawConnection& connection, size_t) {
    connection.read_request();
    all_here.arrive_and_wait();
    connection.send(chunked_stream(kGoodEvents));
    connection.wait_for_end();
  });
  const auto client = client_for(server.url());
  std::latch all_ended(kNum);
  std::mutex mutex;
  int num_good = 0;
  for (int i = 0; i < kNum; ++i) {
    client->start(chat(), {.on_end = [&](const RequestRecord& record) {
                    {
                      const std::lock_guard lock(mutex);
                      num_good += record.finish == Finish::stop ? 1 : 0;
                    }
                    all_ended.count_down();
                  }});
  }
  all_ended.wait();
  EXPECT_EQ(num_good, kNum);
  EXPECT_EQ(server.num_connections(), size_t{kNum});
}

}  // namespace
}  // namespace evener::bench
