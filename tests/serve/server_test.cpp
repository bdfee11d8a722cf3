// The real server on a loopback socket, before a model whose every token the test speaks.
#include "serve/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "serve/client.h"
#include "serve/fake_generator.h"
#include "serve/json.h"
#include "serve/metrics.h"

namespace evener::serve {
namespace {

class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.port = 0;
    auto started = Server::start(options);
    ASSERT_TRUE(started.has_value()) << to_string(started.error());
    server_ = *std::move(started);
  }
  void start_ready(ServerOptions options = {}) {
    start(std::move(options));
    model_ = std::make_unique<FakeGenerator>();
    server_->set_generator(model_->borrowed(), plain_template());
  }

  // The contract of set_engine: first the server stops, then the engine goes.
  void TearDown() override {
    if (server_) server_->stop();
  }

  static constexpr const char* kStream =
      R"({"messages":[{"role":"user","content":"q"}],"stream":true})";
  static constexpr const char* kWhole = R"({"messages":[{"role":"user","content":"q"}]})";

  std::unique_ptr<Server> server_;
  std::unique_ptr<FakeGenerator> model_;  // behind server_: goes first, as an engine must
};

std::string first_line(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

std::string body_of(const std::string& answer) {
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

// The number behind a metric's name; -1 if there is none.
double metric(const std::string& answer, const std::string& name) {
  const size_t at = answer.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::strtod(answer.c_str() + at + name.size() + 2, nullptr);
}

TEST_F(ServerTest, ListensBeforeThereIsAModel) {
  start();
  server_->set_loading({.phase = engine::LoadState::Phase::pack, .fraction = 0.5});
  Client c(server_->port());
  c.get("/health");
  const std::string health = c.read_answer();
  EXPECT_EQ(first_line(health), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(body_of(health).starts_with(
      R"({"status":"unavailable","error":{"code":503,"message":"Loading model","type":"unavailable_error"},)"
      R"("progress":{"phase":"pack","fraction":0.5},"pid":)"))
      << health;
  c.post("/v1/chat/completions", kWhole);
  const std::string answer = c.read_answer();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
  EXPECT_EQ(
      body_of(answer),
      R"({"error":{"message":"Loading model","type":"overloaded_error","param":null,"code":"unavailable"}})");
}

TEST_F(ServerTest, SaysThatLoadingFailedWithoutPaths) {
  start();
  server_->set_failed(
      {.code = Code::corrupt, .doing = "load", .where = "/secret", .why = "x", .remedy = ""});
  Client c(server_->port());
  c.get("/health");
  const std::string health = c.read_answer();
  EXPECT_NE(health.find("The model could not be loaded"), std::string::npos);
  EXPECT_EQ(health.find("secret"), std::string::npos);
}

TEST_F(ServerTest, SaysWhichRankHasFailedAndWhatBecomesOfIt) {
  using State = engine::RanksReport::State;
  start_ready();
  engine::RanksReport& ranks = model_->stats_.ranks;
  ranks.layout = "cpu:0[0] + cpu:0[1], tp 2";
  ranks.ranks = {{.device = "cpu:0[0]"}, {.device = "cpu:0[1]", .shard = 1}};
  ranks.last_failure = {.rank = "1", .device = "cpu:0[1]", .kind = "late"};
  ranks.failures[*ranks.last_failure] = 2;
  ranks.reason = "rank 1 (cpu:0[1]): no sign of life for 10.0 s";
  ranks.num_restarts = 1;
  Client c(server_->port());
  const auto get = [&](const char* path) {
    c.get(path);
    return c.read_answer();
  };

  ranks.state = State::restarting;
  EXPECT_EQ(first_line(get("/health")), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(
      body_of(get("/health"))
          .starts_with(R"({"status":"restarting","error":{"code":503,"message":)"
                       R"("Ranks have failed and are restarted","type":"unavailable_error"},)"
                       R"("failure":{"reason":"rank 1 (cpu:0[1]): no sign of life for )"
                       R"(10.0 s","rank":"1","device":"cpu:0[1]","kind":"late"},"pid":)"));
  EXPECT_EQ(metric(get("/metrics"), "evener_ranks"), 0);
  ranks.state = State::down;
  EXPECT_TRUE(body_of(get("/health")).starts_with(R"({"status":"down",)"));
  ranks.state = State::degraded;
  EXPECT_EQ(first_line(get("/health")), "HTTP/1.1 200 OK");
  EXPECT_TRUE(
      body_of(get("/health"))
          .starts_with(R"({"status":"degraded","layout":"cpu:0[0] + cpu:0[1], tp 2","failure":{)"));

  const std::string metrics = get("/metrics");
  EXPECT_EQ(metric(metrics, "evener_ranks"), 2);
  EXPECT_EQ(metric(metrics, "evener_rank_restarts_total"), 1);
  EXPECT_EQ(
      metric(metrics, "evener_rank_failures_total{rank=\"1\",device=\"cpu:0[1]\",kind=\"late\"}"),
      2);
  EXPECT_EQ(metric(metrics, "evener_rank_heartbeat_age_seconds{rank=\"0\",device=\"cpu:0[0]\"}"),
            0);
}

TEST_F(ServerTest, AnswersEveryRoute) {
  start_ready();
  Client c(server_->port());
  const auto status = [&](const char* path) {
    c.get(path);
    return c.read_answer().substr(9, 3);
  };
  EXPECT_EQ(status("/health"), "200");
  EXPECT_EQ(status("/v1//models/?beta=true"), "200");
  EXPECT_EQ(status("/models/fake"), "200");
  EXPECT_EQ(status("/models/other"), "404");
  EXPECT_EQ(status("/version"), "200");
  EXPECT_EQ(status("/metrics"), "200");
  EXPECT_EQ(status("/props"), "200");
  EXPECT_EQ(status("/nothing"), "404");
  EXPECT_EQ(status("/v1/chat/completions"), "405");
  c.post("/v1/embeddings", "{}");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 501 Not Implemented");
  c.post("/tokenize", R"({"content":"hi","with_pieces":true})");
  EXPECT_EQ(
      body_of(c.read_answer()),
      R"({"tokens":[{"id":104,"piece":"h"},{"id":105,"piece":"i"}],"count":2,"max_model_len":1000})");
  c.post("/detokenize", R"({"tokens":[104,105]})");
  EXPECT_EQ(body_of(c.read_answer()), R"({"content":"hi","prompt":"hi"})");
  c.post("/apply-template", kWhole);
  EXPECT_EQ(body_of(c.read_answer()), R"({"prompt":"<user>q</user><assistant>"})");
}

TEST_F(ServerTest, TellsAboutItsMachineOnlyIfToldTo) {
  start();
  Client c(server_->port());
  c.get("/v1/host");
  EXPECT_EQ(
      body_of(c.read_answer()),
      R"({"error":{"message":"this server does not tell about its machine; it does when it is )"
      R"(started with --expose-host","type":"not_found_error","param":null,"code":"host_not_exposed"}})");
  c.get("/version");
  EXPECT_NE(c.read_answer().find(R"("host_exposed":false)"), std::string::npos);
}

TEST_F(ServerTest, ReadsItsMachineOnceForThoseWhoAskTogether) {
  int num_readings = 0;
  start({.host_report = [&num_readings]() -> Result<std::string> {
    ++num_readings;
    return std::string(R"({"schema":1})");
  }});
  Client c(server_->port());
  for (int i = 0; i < 3; ++i) {
    c.get("/v1/host");
    const std::string answer = c.read_answer();
    EXPECT_EQ(first_line(answer), "HTTP/1.1 200 OK");
    EXPECT_EQ(body_of(answer), R"({"schema":1})");
  }
  EXPECT_EQ(num_readings, 1);
  c.get("/version");
  EXPECT_NE(c.read_answer().find(R"("host_exposed":true)"), std::string::npos);
}

TEST_F(ServerTest, AsksForTheKeyBeforeItTellsAboutItsMachine) {
  start({.api_keys = {"k"},
         .host_report = []() -> Result<std::string> { return std::string("{}"); }});
  Client c(server_->port());
  c.get("/v1/host");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 401 Unauthorized");
  c.get("/v1/host", "x-api-key: k\r\n");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
}

TEST_F(ServerTest, SaysThatItsMachineCannotBeReadWithoutPaths) {
  start({.host_report = []() -> Result<std::string> {
    return Error{.code = Code::not_found,
                 .doing = "read this machine",
                 .where = "/secret",
                 .why = "secret",
                 .remedy = {}};
  }});
  Client c(server_->port());
  c.get("/v1/host");
  const std::string answer = c.read_answer();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("this machine could not be read"), std::string::npos);
  EXPECT_EQ(answer.find("secret"), std::string::npos);
}

TEST_F(ServerTest, AnswersHeadWithoutABody) {
  start_ready();
  Client c(server_->port());
  c.send("HEAD /health HTTP/1.1\r\nHost: h\r\n\r\nGET /version HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string head = c.read_until("\r\n\r\n");
  EXPECT_EQ(first_line(head), "HTTP/1.1 200 OK");
  EXPECT_TRUE(c.read_answer().starts_with("HTTP/1.1 200 OK"));  // not the head's body
}

TEST_F(ServerTest, StreamsInChunksAndKeepsTheConnection) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream, "X-Request-Id: mine\r\n");
  model_->wait_for_requests(1);
  model_->say(1, "Hi");
  const std::string head = c.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Type: text/event-stream\r\n"), std::string::npos);
  EXPECT_NE(head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_NE(head.find("x-request-id: mine\r\n"), std::string::npos);
  model_->finish(1);
  EXPECT_NE(c.read_until("0\r\n\r\n").find(R"({"content":"Hi"})"), std::string::npos);
  c.get("/health");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kWhole);
  c.get("/version");
  model_->wait_for_requests(1);
  model_->say(1, "first");
  model_->finish(1);
  EXPECT_NE(c.read_answer().find("first"), std::string::npos);
  EXPECT_NE(c.read_answer().find("\"version\""), std::string::npos);
}

TEST_F(ServerTest, CancelsWhenAClientLeavesWhileItsAnswerIsStreamed) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  model_->say(1, "a");
  (void)c.read_until("\"a\"");
  c.close();
  model_->wait_for_cancellation(1);
}

// In queue or prefill nothing is being written that would fail.
TEST_F(ServerTest, CancelsWhenAClientLeavesBeforeTheFirstToken) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  model_->read_some(1, 0, 1);
  (void)c.read_until("assistant");
  c.close();
  model_->wait_for_cancellation(1);
}

TEST_F(ServerTest, CancelsWhenAClientLeavesThatWaitsForAWholeAnswer) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kWhole);
  model_->wait_for_requests(1);
  c.close();
  model_->wait_for_cancellation(1);
}

TEST_F(ServerTest, ServesAClientThatOnlyStopsSending) {
  start_ready();
  for (const char* body : {kWhole, kStream}) {
    Client c(server_->port());
    c.post("/v1/chat/completions", body);
    c.end_sending();
    const engine::SequenceId id = body == kWhole ? 1 : 2;
    model_->wait_for_requests(id);
    model_->say(id, "still here");
    model_->finish(id);
    EXPECT_NE(c.read_to_end().find("still here"), std::string::npos);
    EXPECT_FALSE(model_->was_cancelled(id));
  }
}

TEST_F(ServerTest, AnswersAStreamWithoutAPlaceByAStatus) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  model_->wait_in_queue(1, 5);
  model_->fail(1, {.code = Code::unavailable,
                   .doing = "accept the request",
                   .where = "",
                   .why = "5 requests are waiting already",
                   .remedy = ""});
  const std::string answer = c.read_answer();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 503 Service Unavailable");
  EXPECT_NE(answer.find("Retry-After: 1\r\n"), std::string::npos);
  EXPECT_NE(answer.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(answer.find("\"overloaded_error\""), std::string::npos);
  c.get("/health");  // the connection is as good as before
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
}

TEST_F(ServerTest, AnswersAStreamWithoutAPlaceByAnEventOnceItHasSaidThatItIsAlive) {
  start_ready({.ping_interval = std::chrono::milliseconds(20)});
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  const std::string head = c.read_until(": ping\n\n");
  EXPECT_EQ(first_line(head), "HTTP/1.1 200 OK");
  EXPECT_EQ(head.find("data:"), std::string::npos);
  model_->fail(1,
               {.code = Code::unavailable, .doing = "", .where = "", .why = "full", .remedy = ""});
  EXPECT_NE(c.read_to_end().find(R"(data: {"error":{"message":"full","type":"overloaded_error")"),
            std::string::npos);
}

TEST_F(ServerTest, ServesAStreamToAnOldClientThatOnlyStopsSending) {
  start_ready();
  Client c(server_->port());
  const std::string body = kStream;
  c.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body);
  c.end_sending();
  model_->wait_for_requests(1);
  model_->say(1, "still here");
  model_->finish(1);
  const std::string answer = c.read_to_end();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 200 OK");
  EXPECT_NE(answer.find("still here"), std::string::npos);
}

TEST_F(ServerTest, EndsAnAnswerByItsRequestsId) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kWhole, "X-Request-Id: mine\r\n");
  model_->wait_for_requests(1);
  Client other(server_->port());
  other.post("/v1/abort", R"({"request_id":"not mine"})");
  EXPECT_EQ(body_of(other.read_answer()), R"({"aborted":0})");
  other.post("/v1/abort", R"({"request_id":"mine"})");
  EXPECT_EQ(body_of(other.read_answer()), R"({"aborted":1})");
  const std::string answer = c.read_answer();
  EXPECT_EQ(first_line(answer), "HTTP/1.1 400 Bad Request");
  EXPECT_NE(answer.find("\"request_aborted\""), std::string::npos);
  model_->wait_for_cancellation(1);
  other.post("/abort_request", R"({"rid":"mine"})");
  EXPECT_EQ(body_of(other.read_answer()), R"({"aborted":0})");
  other.post("/v1/abort", "{}");
  EXPECT_EQ(first_line(other.read_answer()), "HTTP/1.1 400 Bad Request");
  other.get("/metrics");
  EXPECT_NE(
      other.read_answer().find("evener_cancellations_total{phase=\"queue\",reason=\"abort\"} 1\n"),
      std::string::npos);
}

TEST_F(ServerTest, LetsNobodyEndTheAnswersOfAnotherKey) {
  start_ready({.api_keys = {"k", "other"}});
  Client c(server_->port());
  c.post("/v1/chat/completions", kWhole, "X-Request-Id: mine\r\nx-api-key: k\r\n");
  model_->wait_for_requests(1);
  Client nobody(server_->port());
  nobody.post("/v1/abort", R"({"request_id":"mine"})");
  EXPECT_EQ(first_line(nobody.read_answer()), "HTTP/1.1 401 Unauthorized");
  Client second(server_->port());
  second.post("/v1/abort", R"({"request_id":"mine"})", "x-api-key: other\r\n");
  EXPECT_EQ(body_of(second.read_answer()), R"({"aborted":0})");
  EXPECT_FALSE(model_->was_cancelled(1));
  second.post("/v1/abort", R"({"request_id":"mine"})", "x-api-key: k\r\n");
  EXPECT_EQ(body_of(second.read_answer()), R"({"aborted":1})");
}

TEST_F(ServerTest, KeysAreClientsAndShareNoPrefixes) {
  start_ready({.api_keys = {"k", "other"}});
  std::deque<Client> clients;
  for (const char* key : {"k", "other", "k"}) {
    clients.emplace_back(server_->port());
    clients.back().post("/v1/chat/completions", kWhole, fmt::format("x-api-key: {}\r\n", key));
    model_->wait_for_requests(clients.size());
  }
  EXPECT_NE(model_->request(1).client, model_->request(2).client);
  EXPECT_NE(model_->request(1).salt, model_->request(2).salt);
  EXPECT_EQ(model_->request(1).client, model_->request(3).client);
  EXPECT_EQ(model_->request(1).salt, model_->request(3).salt);
}

TEST_F(ServerTest, WithoutKeysClientsAreAddressesAndShare) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kWhole);
  model_->wait_for_requests(1);
  EXPECT_NE(model_->request(1).client, 0U);
  EXPECT_EQ(model_->request(1).salt, 0U);
}

TEST_F(ServerTest, FlushesTheCacheWhenNothingRuns) {
  start_ready();
  model_->stats_.cache.pages_evictable = 7;
  Client c(server_->port());
  c.post("/flush_cache", "");
  EXPECT_EQ(body_of(c.read_answer()),
            R"({"success":true,"pages_forgotten":7,"states_forgotten":0})");
  c.get("/flush_cache");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
  EXPECT_EQ(model_->num_flushes_, 2);
  model_->stats_.waiting = 1;
  c.post("/flush_cache", "");
  const std::string busy = c.read_answer();
  EXPECT_EQ(first_line(busy), "HTTP/1.1 400 Bad Request");
  EXPECT_NE(busy.find("\"busy\""), std::string::npos);
  EXPECT_EQ(model_->num_flushes_, 2);
}

TEST_F(ServerTest, TellsWhatItIsAndDoes) {
  start_ready();
  engine::Stats& stats = model_->stats_;
  stats.waiting = 3;
  stats.refused = 2;
  stats.cancel_seconds_max = 0.25;
  stats.scheduler.gap_max = std::chrono::milliseconds(120);
  stats.scheduler.gap_bound = std::chrono::milliseconds(410);
  stats.scheduler.cost = {1, 2, 3, 4, 5};
  stats.scheduler.num_retractions = 6;
  stats.cache.num_pages = 10;
  stats.cache.pages_private = 1;
  stats.cache.pages_shared = 2;
  stats.cache.pages_evictable = 3;
  stats.cache.pages_free = 4;
  stats.cache.tokens_looked_up = 100;
  stats.cache.tokens_matched = 64;
  stats.tiers = cache::TierStats{};
  stats.tiers->num_memory_hits = 9;
  stats.tiers->has_disk = true;
  model_->facts_.context_limit = engine::ModelFacts::ContextLimit::memory;
  model_->facts_.pool_tokens = 1064;

  Client c(server_->port());
  c.get("/server_info");
  const Json info = Json::parse(body_of(c.read_answer()));
  EXPECT_EQ(info["admissible"], Json({{"tokens", 1000},
                                      {"limited_by", "memory"},
                                      {"model_tokens", 4096},
                                      {"pool_tokens", 1064}}));
  EXPECT_EQ(info["queue"]["waiting"], 3);
  EXPECT_EQ(info["queue"]["refused"], 2);
  EXPECT_EQ(info["queue"]["cancel_ms_max"], 250);
  EXPECT_EQ(info["pools"]["pages"], Json({{"total", 10}, {"used", 3}, {"kept", 3}, {"free", 4}}));
  EXPECT_EQ(info["cost_model"]["seconds_per_decode_row"], 5);
  EXPECT_EQ(info["gaps"]["max_ms"], 120);
  EXPECT_EQ(info["gaps"]["bound_ms"], 410);
  EXPECT_EQ(info["gaps"]["histogram"].size(), Metrics::kBounds.size() + 1);
  EXPECT_EQ(info["tiers"]["memory"]["hits"], 9);
  EXPECT_EQ(info["options"]["max_gap_ms"], 400);
  EXPECT_EQ(info["options"]["max_prefill_steps"], nullptr);

  c.get("/metrics");
  const std::string metrics = c.read_answer();
  EXPECT_EQ(metric(metrics, "evener_requests_waiting"), 3);
  EXPECT_EQ(metric(metrics, "evener_kv_pages_used"), 3);
  EXPECT_EQ(metric(metrics, "evener_kv_pages_kept"), 3);
  EXPECT_EQ(metric(metrics, "evener_prefix_tokens_total"), 100);
  EXPECT_EQ(metric(metrics, "evener_prefix_tokens_matched_total"), 64);
  EXPECT_EQ(metric(metrics, "evener_retractions_total"), 6);
  EXPECT_EQ(metric(metrics, "evener_sequences_refused_total"), 2);
  EXPECT_EQ(metric(metrics, "evener_cancel_seconds_max"), 0.25);
  EXPECT_EQ(metric(metrics, "evener_token_gap_seconds_max"), 0.12);
  EXPECT_EQ(metric(metrics, "evener_token_gap_bound_seconds"), 0.41);
  EXPECT_EQ(metric(metrics, "evener_tier_memory_hits_total"), 9);
  EXPECT_EQ(metric(metrics, "evener_tier_disk_writes"), 1);
  EXPECT_EQ(metric(metrics, "vllm:prefix_cache_hits_total"), 64);

  c.get("/v1/models");
  const Json model = Json::parse(body_of(c.read_answer()))["data"][0];
  EXPECT_EQ(model["max_model_len"], 1000);
  EXPECT_EQ(model["meta"]["context_limit"], "memory");
  EXPECT_EQ(model["meta"]["pool_tokens"], 1064);
}

// Prompts first: there is no bound to claim; and no tiers, no metrics of them.
TEST_F(ServerTest, ClaimsNoBoundWhereThereIsNone) {
  start_ready();
  Client c(server_->port());
  c.get("/metrics");
  const std::string metrics = c.read_answer();
  EXPECT_EQ(metric(metrics, "evener_token_gap_bound_seconds"), -1);
  EXPECT_EQ(metric(metrics, "evener_tier_memory_hits_total"), -1);
  EXPECT_EQ(metric(metrics, "evener_kv_pages_total"), 0);
  c.get("/server_info");
  const Json info = Json::parse(body_of(c.read_answer()));
  EXPECT_EQ(info["gaps"]["bound_ms"], nullptr);
  EXPECT_EQ(info["tiers"], nullptr);
}

TEST_F(ServerTest, LetsAReaderGoThatDoesNotRead) {
  start_ready({.unsent_bytes_max = 100'000});
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  // More than the system's own buffers of both sides hold.
  for (int i = 0; i < 200 && !model_->was_cancelled(1); ++i)
    model_->say(1, std::string(100'000, 'x'), "x");
  model_->wait_for_cancellation(1);
}

TEST_F(ServerTest, LetsAReaderGoThatTakesNothingForTooLong) {
  start_ready(
      {.unsent_bytes_max = size_t{1} << 30, .write_time_max = std::chrono::milliseconds(30)});
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  // More than the system's own buffers of both sides hold.
  for (int i = 0; i < 200; ++i) model_->say(1, std::string(100'000, 'x'), "x");
  model_->wait_for_cancellation(1);
  Client other(server_->port());
  other.get("/metrics");
  EXPECT_NE(other.read_answer().find(
                "evener_cancellations_total{phase=\"decode\",reason=\"reader_too_slow\"} 1\n"),
            std::string::npos);
}

TEST_F(ServerTest, SaysThatItIsAliveWhileNothingHappens) {
  start_ready({.ping_interval = std::chrono::milliseconds(20)});
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  EXPECT_NE(c.read_until(": ping\n\n").find(": ping"), std::string::npos);
}

TEST_F(ServerTest, RefusesHugeHeadersDeepJsonAndBadText) {
  start_ready({.body_bytes_max = 20'000'000});
  Client huge(server_->port());
  huge.get("/health", "X: " + std::string(100'000, 'x') + "\r\n");
  EXPECT_EQ(first_line(huge.read_answer()), "HTTP/1.1 431 Request Header Fields Too Large");

  Client large(server_->port());
  large.send("POST /tokenize HTTP/1.1\r\nContent-Length: 20000001\r\n\r\n");
  EXPECT_EQ(first_line(large.read_answer()), "HTTP/1.1 413 Content Too Large");

  Client c(server_->port());
  c.post("/v1/chat/completions", std::string(100'000, '[') + std::string(100'000, ']'));
  EXPECT_EQ(body_of(c.read_answer()),
            R"({"error":{"message":"the body's JSON is nested deeper than 64 levels","type":)"
            R"("invalid_request_error","param":null,"code":"invalid_value"}})");
  c.post("/v1/chat/completions", "{\"messages\":\"\xff\"}");
  EXPECT_NE(c.read_answer().find("the body is not valid UTF-8"), std::string::npos);
  std::string text;
  text.resize(10'000'000, 'x');
  c.post("/v1/completions", R"({"prompt":")" + text + R"("})");
  EXPECT_NE(c.read_answer().find("your request has 10000000 input tokens"), std::string::npos);

  c.send("POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"conten\r\n");
  c.send("8\r\nt\":\"ab\"}\r\n0\r\n\r\n");
  EXPECT_NE(c.read_answer().find("\"count\":2"), std::string::npos);
}

TEST_F(ServerTest, GivesUpOnARequestThatDoesNotArrive) {
  start_ready({.header_time_max = std::chrono::milliseconds(30)});
  Client c(server_->port());
  c.send("GET /health HTTP/1.1\r\nX: ");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 408 Request Timeout");
}

// The time counts from the header on, whatever comes in between.
TEST_F(ServerTest, GivesUpOnABodyThatDoesNotArrive) {
  start_ready({.body_time_max = std::chrono::milliseconds(30)});
  Client c(server_->port());
  c.send("POST /tokenize HTTP/1.1\r\nContent-Length: 1000\r\n\r\n{");
  c.send(" ");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 408 Request Timeout");
}

TEST_F(ServerTest, AsksForTheKey) {
  start_ready({.api_keys = {"k"}});
  Client c(server_->port());
  c.get("/health");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
  c.get("/v1/models");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 401 Unauthorized");
  c.get("/v1/models", "Authorization: Bearer k\r\n");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 200 OK");
  c.post("/tokenize", R"({"content":"a"})", "x-api-key: wrong\r\n");
  EXPECT_EQ(first_line(c.read_answer()), "HTTP/1.1 401 Unauthorized");
}

TEST_F(ServerTest, AnswersPreflightsOfLocalPagesOnly) {
  start_ready();
  Client c(server_->port());
  c.send("OPTIONS /v1/models HTTP/1.1\r\nOrigin: http://localhost:3000\r\n\r\n");
  EXPECT_NE(c.read_answer().find("Access-Control-Allow-Origin: http://localhost:3000\r\n"),
            std::string::npos);
  c.send("OPTIONS /v1/models HTTP/1.1\r\nOrigin: http://evil.example\r\n\r\n");
  EXPECT_EQ(c.read_answer().find("Access-Control-Allow"), std::string::npos);
}

TEST_F(ServerTest, SaysWhatToDoWhenThePortIsTaken) {
  start();
  ServerOptions options;
  options.port = server_->port();
  const auto second = Server::start(options);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, Code::unavailable);
  EXPECT_EQ(
      to_string(second.error()),
      "cannot listen: 127.0.0.1:" + std::to_string(options.port) +
          ": another program uses this port\n  end it, or choose another port with --port, or "
          "--port 0 for any free one");
}

TEST_F(ServerTest, LetsRunningAnswersFinishWhenStopped) {
  start_ready();
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  model_->read_some(1, 0, 1);
  (void)c.read_until("assistant");
  Client second(server_->port());  // connected, and asks while the server drains
  second.get("/health");
  (void)second.read_answer();
  second.send("GET /v1/models HTTP/1.1\r\n");
  std::thread stopping([this] { server_->stop(); });
  std::thread talking([this] {
    model_->say(1, "to the end");
    model_->finish(1);
  });
  const std::string rest = c.read_to_end();
  EXPECT_NE(rest.find("to the end"), std::string::npos);
  EXPECT_NE(rest.find("[DONE]"), std::string::npos);
  second.close();
  talking.join();
  stopping.join();
}

TEST_F(ServerTest, EndsAnswersWithAnErrorWhenPatienceIsOver) {
  start_ready({.drain_patience = std::chrono::milliseconds(10)});
  Client c(server_->port());
  c.post("/v1/chat/completions", kStream);
  model_->wait_for_requests(1);
  model_->read_some(1, 0, 1);
  (void)c.read_until("assistant");
  std::thread reading([&c] {
    const std::string rest = c.read_to_end();
    EXPECT_NE(rest.find("the server is stopping; the answer is not complete"), std::string::npos)
        << rest;
    EXPECT_EQ(rest.find("[DONE]"), std::string::npos);
    c.close();
  });
  server_->stop();
  reading.join();
}

}  // namespace
}  // namespace evener::serve
