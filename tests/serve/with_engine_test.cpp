// Server and engine together, on the bundled model: what a client does must show in what the engine
// holds.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "serve/client.h"
#include "serve/fake_generator.h"
#include "serve/json.h"
#include "serve/server.h"

namespace evener::serve {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);  // of a test that is about to fail

engine::EngineOptions one_at_a_time() {
  engine::EngineOptions options;
  options.num_threads = 2;
  options.context_length = 1024;
  options.max_sequences = 1;
  options.prefill_chunk = 32;
  return options;
}

class WithEngine : public testing::Test {
 protected:
  void start(const engine::EngineOptions& options, ServerOptions server_options = {}) {
    auto engine = engine::Engine::create(options, {});
    ASSERT_TRUE(engine.has_value()) << to_string(engine.error());
    engine_ = *std::move(engine);
    server_options.port = 0;
    auto server = Server::start(server_options);
    ASSERT_TRUE(server.has_value()) << to_string(server.error());
    server_ = *std::move(server);
    server_->set_engine(*engine_, plain_template());
  }

  void TearDown() override {
    if (server_) server_->stop();
    engine_ = nullptr;  // before the server, to which its last updates go
  }

  // Answer to a completion, a whole one.
  Json complete(const Json& body, const std::string& headers = "") {
    Client c(server_->port());
    c.post("/v1/completions", body.dump(), headers);
    const std::string answer = c.read_answer();
    status_ = answer.substr(9, 3);
    return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  }

  // Begins an answer that does not end by itself; returns when its first text has come.
  std::unique_ptr<Client> hold() {
    auto c = std::make_unique<Client>(server_->port());
    c->post("/v1/completions", endless(8).dump());
    (void)c->read_until("\"text\"");
    return c;
  }

  static std::vector<int> numbers(size_t count) {
    std::vector<int> out;
    for (size_t i = 0; i < count; ++i) out.push_back(static_cast<int>(10 + i % 97));
    return out;
  }

  static Json endless(size_t num_prompt_tokens) {
    return {{"prompt", numbers(num_prompt_tokens)},
            {"stream", true},
            {"ignore_eos", true},
            {"max_tokens", 100'000}};
  }

  template <class Condition>
  void wait_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition(engine_->stats())) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      std::this_thread::yield();
    }
  }

  void expect_all_free() {
    wait_until([](const engine::Stats& s) { return s.running + s.waiting == 0; });
    const cache::CacheStats cache = engine_->stats().cache;
    EXPECT_EQ(cache.pages_private, 0U);
    EXPECT_EQ(cache.pages_shared, 0U);
    EXPECT_EQ(cache.slots_own, 0U);
    EXPECT_EQ(cache.pages_evictable + cache.pages_free, cache.num_pages);
  }

  std::string status_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<engine::Engine> engine_;
};

size_t cached(const Json& answer) {
  return answer["usage"]["prompt_tokens_details"]["cached_tokens"].get<size_t>();
}

TEST_F(WithEngine, AdmitsExactlyWhatItAdvertises) {
  start(one_at_a_time());
  Client c(server_->port());
  c.get("/v1/models");
  const std::string models = c.read_answer();
  const Json entry = Json::parse(models.substr(models.find("\r\n\r\n") + 4))["data"][0];
  const auto length = entry["max_model_len"].get<size_t>();
  EXPECT_EQ(length, 1024U);
  EXPECT_EQ(entry["meta"]["context_limit"], "option");

  const Json fits =
      complete({{"prompt", numbers(length - 3)}, {"ignore_eos", true}, {"max_tokens", 100'000}});
  EXPECT_EQ(status_, "200");
  EXPECT_EQ(fits["usage"]["completion_tokens"], 3);
  EXPECT_EQ(fits["choices"][0]["finish_reason"], "length");
  complete({{"prompt", numbers(length - 1)}, {"max_tokens", 1}});
  EXPECT_EQ(status_, "200");
  const Json too_long = complete({{"prompt", numbers(length)}, {"max_tokens", 1}});
  EXPECT_EQ(status_, "400");
  EXPECT_EQ(too_long["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(too_long["error"]["n_ctx"], length);
}

TEST_F(WithEngine, SaysHowMuchOfAPromptWasKnownAndForgetsItWhenTold) {
  start(one_at_a_time());
  const Json body = {{"prompt", numbers(200)},
                     {"max_tokens", 8},
                     {"temperature", 0},
                     {"ignore_eos", true},
                     {"timings", true}};
  const Json first = complete(body);
  EXPECT_EQ(cached(first), 0U);
  const Json second = complete(body);
  EXPECT_EQ(cached(second), 192U);  // whole pages of 64
  EXPECT_EQ(second["timings"]["cache_n"], 192);
  EXPECT_EQ(second["timings"]["prompt_n"], 8);
  EXPECT_EQ(second["timings"]["cache_end"], "all");
  EXPECT_EQ(second["choices"][0]["text"], first["choices"][0]["text"]);
  expect_all_free();

  Client c(server_->port());
  c.post("/flush_cache", "");
  EXPECT_NE(c.read_answer().find("\"success\":true"), std::string::npos);
  const Json third = complete(body);
  EXPECT_EQ(cached(third), 0U);
  EXPECT_EQ(third["choices"][0]["text"], first["choices"][0]["text"]);
}

TEST_F(WithEngine, KeepsWhatKeysHaveComputedFromEachOther) {
  start(one_at_a_time(), {.api_keys = {"a", "b"}});
  const Json body = {{"prompt", numbers(200)}, {"max_tokens", 2}};
  EXPECT_EQ(cached(complete(body, "x-api-key: a\r\n")), 0U);
  EXPECT_EQ(cached(complete(body, "x-api-key: b\r\n")), 0U);
  EXPECT_EQ(cached(complete(body, "Authorization: Bearer a\r\n")), 192U);
  Json salted = body;
  salted["cache_salt"] = "mine";
  EXPECT_EQ(cached(complete(salted, "x-api-key: a\r\n")), 0U);
}

TEST_F(WithEngine, GivesOneSessionSentTwiceAtOnceTheSameAnswer) {
  engine::EngineOptions options = one_at_a_time();
  options.max_sequences = 4;
  start(options);
  const Json body = {{"prompt", numbers(150)},
                     {"max_tokens", 40},
                     {"temperature", 0},
                     {"ignore_eos", true},
                     {"session_id", "same"}};
  std::string texts[2];
  const auto ask = [&](std::string& text) {
    Client c(server_->port());
    c.post("/v1/completions", body.dump());
    const std::string answer = c.read_answer();
    text = Json::parse(answer.substr(answer.find("\r\n\r\n") + 4))["choices"][0]["text"];
  };
  std::thread other([&] { ask(texts[1]); });
  ask(texts[0]);
  other.join();
  EXPECT_NE(texts[0], "");
  EXPECT_EQ(texts[0], texts[1]);
  expect_all_free();
}

TEST_F(WithEngine, FreesAllWhenAClientLeavesInTheMiddleOfAnAnswer) {
  start(one_at_a_time());
  auto c = hold();
  c->close();
  wait_until([](const engine::Stats& s) { return s.cancelled == 1; });
  expect_all_free();
  EXPECT_GT(engine_->stats().cancel_seconds_max, 0);
}

TEST_F(WithEngine, FreesAllWhenAClientLeavesInTheMiddleOfItsPrompt) {
  start(one_at_a_time());
  Client c(server_->port());
  Json body = {{"messages", {{{"role", "user"}, {"content", std::string(900, 'q')}}}},
               {"stream", true},
               {"ignore_eos", true},
               {"return_progress", true}};
  c.post("/v1/chat/completions", body.dump());
  (void)c.read_until("prompt_progress");
  c.close();
  wait_until([](const engine::Stats& s) { return s.cancelled == 1; });
  expect_all_free();
}

TEST_F(WithEngine, FreesThePlaceInTheQueueOfAClientThatLeaves) {
  engine::EngineOptions options = one_at_a_time();
  options.max_queued = 1;
  start(options);
  auto running = hold();
  Client waiting(server_->port());
  waiting.post("/v1/completions", endless(8).dump());
  wait_until([](const engine::Stats& s) { return s.waiting == 1; });

  Client refused(server_->port());
  refused.post("/v1/completions", endless(8).dump());
  const std::string answer = refused.read_answer();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("Retry-After: "), std::string::npos);
  EXPECT_NE(answer.find("\"overloaded_error\""), std::string::npos);

  waiting.close();
  wait_until([](const engine::Stats& s) { return s.waiting == 0; });
  Client next(server_->port());
  next.post("/v1/completions", endless(8).dump());
  wait_until([](const engine::Stats& s) { return s.waiting == 1; });
  running->close();
  (void)next.read_until("\"text\"");  // has got the place
  next.close();
  wait_until([](const engine::Stats& s) { return s.cancelled == 3; });
  expect_all_free();
}

TEST_F(WithEngine, TellsWhoWaitsTooLongByAStatusEvenIfItWantsAStream) {
  engine::EngineOptions options = one_at_a_time();
  options.queue_timeout = std::chrono::milliseconds(1);
  start(options);
  auto running = hold();
  Client c(server_->port());
  c.post("/v1/completions", endless(8).dump());
  const std::string answer = c.read_answer();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("\"overloaded_error\""), std::string::npos);
  running->close();
  wait_until([](const engine::Stats& s) { return s.refused == 1 && s.cancelled == 1; });
  expect_all_free();
}

TEST_F(WithEngine, FreesAllOnAbort) {
  start(one_at_a_time());
  auto running = hold();
  Client c(server_->port());
  Client waiting(server_->port());
  waiting.post("/v1/completions", endless(8).dump(), "x-request-id: second\r\n");
  wait_until([](const engine::Stats& s) { return s.waiting == 1; });
  c.post("/v1/abort", R"({"request_id":"second"})");
  EXPECT_NE(c.read_answer().find(R"({"aborted":1})"), std::string::npos);
  EXPECT_NE(waiting.read_answer().find("\"request_aborted\""), std::string::npos);
  wait_until([](const engine::Stats& s) { return s.cancelled == 1 && s.waiting == 0; });
  EXPECT_EQ(engine_->stats().running, 1U);
  running->close();
  expect_all_free();
}

TEST_F(WithEngine, FreesAllWhenTheServerStops) {
  start(one_at_a_time(), {.drain_patience = std::chrono::milliseconds(1)});
  auto running = hold();
  Client waiting(server_->port());
  waiting.post("/v1/completions", endless(8).dump());
  wait_until([](const engine::Stats& s) { return s.waiting == 1; });
  std::thread reading([&] {
    EXPECT_NE(running->read_to_end().find("the server is stopping"), std::string::npos);
    running->close();
    EXPECT_TRUE(waiting.read_answer().starts_with("HTTP/1.1 503 "));
    waiting.close();
  });
  server_->stop();
  reading.join();
  wait_until([](const engine::Stats& s) { return s.cancelled == 2; });
  expect_all_free();
}

}  // namespace
}  // namespace evener::serve
