#include <gtest/gtest.h>

#include "bench/scripted_server.h"
#include "bench/server.h"

// Goal: what a server is and offers is found by looking, whoever it is; and what is none is told in
// words that help. Method: the client of the bench against scripted servers.

namespace evener::bench {
namespace {

using Manners = Script::Manners;

Script with(Manners manners) {
  Script script;
  script.manners = manners;
  script.time_per_token = std::chrono::microseconds(100);
  return script;
}

struct Probed {
  ScriptedServer scripted;
  std::unique_ptr<Client> client;
  Result<std::unique_ptr<Server>> server;

  explicit Probed(Script script, const std::string& model = "", const std::string& key = "")
      : scripted(std::move(script)),
        client(make_client(scripted.url(), model, key)),
        server(Server::probe(*client)) {}

  static std::unique_ptr<Client> make_client(const std::string& url, const std::string& model,
                                             const std::string& key) {
    Target target;
    target.url = url;
    target.model = model;
    target.api_key = key;
    auto client = Client::create(target, Clock::now());
    EXPECT_TRUE(client) << to_string(client.error());
    return client ? *std::move(client) : nullptr;
  }

  const ServerFacts& facts() {
    EXPECT_TRUE(server) << to_string(server.error());
    return (*server)->facts();
  }
};

TEST(Probe, KnowsEvener) {
  Probed probed(with(Manners::evener));
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::evener);
  EXPECT_EQ(facts.model, "scripted");
  EXPECT_EQ(facts.context_tokens, 8192);
  EXPECT_EQ(facts.max_running, 4);
  EXPECT_EQ(facts.chunk_tokens, 512);
  EXPECT_TRUE(facts.has_tokenize);
  EXPECT_TRUE(facts.has_flush);
  EXPECT_TRUE(facts.has_metrics);
  EXPECT_TRUE(facts.ignores_eos);
  EXPECT_TRUE(facts.counts_tokens);
  EXPECT_TRUE(facts.counts_cached);
  EXPECT_TRUE(facts.tells_timings);
  EXPECT_EQ(facts.caliber, (Caliber{{"engine.chunk_tokens", "512"},
                                    {"engine.context_tokens", "8192"},
                                    {"engine.max_running", "4"},
                                    {"engine.pool_tokens", "32768"},
                                    {"engine.prefill_chunk_tokens", "512"},
                                    {"engine.prefix_cache", "true"},
                                    {"model.id", "scripted"},
                                    {"model.quantisation", "Q8_0"},
                                    {"model.size_bytes", "1234"},
                                    {"server.commit", "abcdef"},
                                    {"server.kind", "evener"},
                                    {"server.url_kind", "loopback"},
                                    {"server.version", "0.1.0"}}));
}

TEST(Probe, KnowsSglang) {
  Probed probed(with(Manners::sglang));
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::sglang);
  EXPECT_EQ(facts.chunk_tokens, 512);
  EXPECT_EQ(facts.max_running, 4);
  EXPECT_TRUE(facts.has_flush);
  EXPECT_TRUE(facts.has_tokenize);
  EXPECT_EQ(facts.caliber.at("model.file"), "Scripted-8B");
  EXPECT_EQ(facts.caliber.at("engine.tensor_parallel"), "2");
  EXPECT_FALSE(facts.caliber.contains("model.quantisation"));  // null there
}

TEST(Probe, KnowsVllm) {
  Script script = with(Manners::vllm);
  script.more_metrics =
      "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"fp8\",num_gpu_blocks=\"100\"} 1\n";
  Probed probed(script);
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::vllm);
  EXPECT_EQ(facts.context_tokens, 8192);
  EXPECT_EQ(facts.max_running, std::nullopt);
  EXPECT_TRUE(facts.has_flush);
  EXPECT_EQ(facts.caliber.at("engine.kv_type"), "fp8");
  EXPECT_EQ(facts.caliber.at("engine.pool_tokens"), "1600");
}

TEST(Probe, KnowsLlamaServer) {
  Probed probed(with(Manners::llama_server));
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::llama_server);
  EXPECT_EQ(facts.max_running, 4);
  EXPECT_TRUE(facts.has_flush);
  EXPECT_FALSE(facts.has_metrics);
  EXPECT_EQ((*probed.server)->count_tokens("one two three"), 3);  // a list, and no count
  EXPECT_EQ(facts.caliber.at("model.file"), "scripted-q8_0.gguf");
}

TEST(Probe, KnowsOllama) {
  Script script = with(Manners::ollama);
  script.takes_ignore_eos = false;
  script.counts_cached = false;
  script.tells_timings = false;
  script.natural_length = 2;
  Probed probed(script);
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::ollama);
  EXPECT_EQ(facts.context_tokens, 8192);
  EXPECT_EQ(facts.caliber.at("model.digest"), "00ff");
  EXPECT_FALSE(facts.ignores_eos);
  EXPECT_TRUE(facts.counts_tokens);
  EXPECT_FALSE(facts.counts_cached);
  EXPECT_FALSE(facts.tells_timings);
  EXPECT_FALSE(facts.has_flush);
  EXPECT_FALSE(facts.has_tokenize);
}

TEST(Probe, MeasuresAServerThatNobodyKnows) {
  Script script = with(Manners::plain);
  script.usage = Script::Usage::none;
  script.refuses_unknown_fields = true;
  Probed probed(script);
  const ServerFacts& facts = probed.facts();
  EXPECT_EQ(facts.kind, ServerKind::other);
  EXPECT_EQ(facts.context_tokens, 8192);  // of /v1/models
  EXPECT_FALSE(facts.counts_tokens);
  EXPECT_FALSE(facts.ignores_eos);
  EXPECT_EQ(probed.scripted.bodies().size(), 2);  // the second without ignore_eos
  EXPECT_EQ((*probed.server)->flush_cache().error().code, Code::unsupported);
  EXPECT_EQ((*probed.server)->count_tokens("one").error().code, Code::unsupported);
  EXPECT_TRUE((*probed.server)->metrics()->empty());
  EXPECT_EQ((*probed.server)->resident_bytes(), std::nullopt);
}

TEST(Probe, NamesTheModelsThereAre) {
  Script script = with(Manners::evener);
  script.models = {"small", "large"};
  Probed probed(script, "medium");
  ASSERT_FALSE(probed.server);
  EXPECT_EQ(to_string(probed.server.error()),
            "cannot measure the server: " + probed.scripted.url() +
                "/v1/models: does not name 'medium'\n"
                "  there is: small, large");
  EXPECT_EQ(probed.server.error().code, Code::not_found);
  EXPECT_EQ(Probed(script, "large").facts().model, "large");
}

TEST(Probe, AsksForAKey) {
  Script script = with(Manners::evener);
  script.api_key = "secret";
  Probed without(script);
  ASSERT_FALSE(without.server);
  EXPECT_EQ(without.server.error().code, Code::permission_denied);
  EXPECT_EQ(without.server.error().why, "answered 401: it wants a key");
  Probed wrong(script, "", "guess");
  ASSERT_FALSE(wrong.server);
  EXPECT_EQ(wrong.server.error().why, "answered 401: it does not take this key");
  EXPECT_EQ(Probed(script, "", "secret").facts().kind, ServerKind::evener);
}

TEST(Probe, SaysWhatAnsweredInstead) {
  Script script;
  script.is_a_website = true;
  Probed probed(script);
  ASSERT_FALSE(probed.server);
  EXPECT_EQ(probed.server.error().code, Code::corrupt);
  EXPECT_EQ(probed.server.error().why,
            "is no list of models: answered 200, '<!DOCTYPE html><title>Welcome to my garden"
            "</title>'");
}

TEST(Probe, SaysThatNobodyIsThere) {
  auto client = Probed::make_client("http://127.0.0.1:1", "", "");
  const auto server = Server::probe(*client);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, Code::unavailable);
}

TEST(Probe, FailsWhereTheSmallRequestDoes) {
  Script script = with(Manners::evener);
  script.status = 500;
  Probed probed(script);
  ASSERT_FALSE(probed.server);
  EXPECT_EQ(probed.server.error().code, Code::unavailable);
  EXPECT_NE(probed.server.error().why.find("a small request failed"), std::string::npos);
}

TEST(Probe, CountsTokensExactly) {
  Probed probed(with(Manners::evener));
  ASSERT_TRUE(probed.server);
  EXPECT_EQ((*probed.server)->count_tokens("a b  c\nd"), 4);
  EXPECT_EQ((*probed.server)->count_tokens(""), 0);
}

TEST(Probe, ReadsMetricsAndMemory) {
  Probed probed(with(Manners::evener));
  ASSERT_TRUE(probed.server);
  EXPECT_EQ((*probed.server)->metrics()->at("evener_requests_total{model=\"scripted\"}"), 1);
  EXPECT_EQ((*probed.server)->resident_bytes(), 15'000'000);
}

TEST(Flush, IsProvenOnceAndThenBelieved) {
  Probed probed(with(Manners::evener));
  ASSERT_TRUE(probed.server);
  const size_t num_before = probed.scripted.bodies().size();
  EXPECT_TRUE((*probed.server)->flush_cache());
  EXPECT_EQ(probed.scripted.bodies().size(), num_before + 3);
  EXPECT_EQ(probed.scripted.num_flushes(), 2);  // the proof itself is forgotten too
  EXPECT_TRUE((*probed.server)->flush_cache());
  EXPECT_EQ(probed.scripted.bodies().size(), num_before + 3);
  EXPECT_EQ(probed.scripted.num_flushes(), 3);
}

TEST(Flush, ThatAnswersYesAndDoesNothingIsAnError) {
  for (const Manners manners : {Manners::evener, Manners::vllm, Manners::llama_server}) {
    Script script = with(manners);
    script.flush_does_nothing = true;
    Probed probed(script);
    ASSERT_TRUE(probed.server);
    const Status flushed = (*probed.server)->flush_cache();
    ASSERT_FALSE(flushed);
    EXPECT_EQ(flushed.error().code, Code::unavailable);
    EXPECT_EQ(flushed.error().why,
              "it answered that it did, and still knew 400 of the 400 tokens that it knew before");
  }
}

TEST(Flush, WaitsForABusyServer) {
  for (const Manners manners : {Manners::evener, Manners::vllm}) {  // 400; 200 and success: false
    Script script = with(manners);
    script.num_flushes_busy = 2;
    script.counts_cached = script.tells_timings = false;  // nothing to prove a flush by
    Probed probed(script);
    ASSERT_TRUE(probed.server);
    EXPECT_TRUE((*probed.server)->flush_cache());
    EXPECT_EQ(probed.scripted.num_flushes(), 1);
  }
}

TEST(Flush, ErasesEverySlotOfLlamaServer) {
  Script script = with(Manners::llama_server);
  script.counts_cached = script.tells_timings = false;
  Probed probed(script);
  ASSERT_TRUE(probed.server);
  EXPECT_TRUE((*probed.server)->flush_cache());
  EXPECT_EQ(probed.scripted.num_flushes(), 4);
}

}  // namespace
}  // namespace evener::bench
