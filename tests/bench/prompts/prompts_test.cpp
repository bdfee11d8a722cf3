#include "bench/prompts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace evener::bench {
namespace {

constexpr uint64_t kTemplateTokens = 9;

// A vocabulary of pieces of at most five letters; a run of newlines is one token.
uint64_t count_pieces(std::string_view text) {
  uint64_t tokens = 0;
  size_t letters = 0;
  char before = ' ';
  for (const char c : text) {
    if (c == '\n' && before != '\n') ++tokens;
    if (c == ' ' || c == '\n') {
      letters = 0;
    } else if (letters++ % 5 == 0) {
      ++tokens;
    }
    before = c;
  }
  return tokens;
}

class PromptClient : public Client {
 public:
  PromptClient() { target_.url = "http://127.0.0.1:1"; }
  RequestNumber start(RequestPlan plan, Observer observer) override {
    sent.push_back(plan.messages.at(0).content);
    RequestRecord record;
    record.finish = fails ? Finish::error : Finish::length;
    if (fails) record.error = "connection reset";
    if (gives_usage)
      record.num_tokens_in = kTemplateTokens + count_pieces(plan.messages.at(0).content);
    observer.on_end(record);
    return sent.size();
  }
  void cancel(RequestNumber) override {}
  void call_at(Clock::time_point, std::function<void()>) override {}
  Result<HttpAnswer> get(const std::string&, std::chrono::milliseconds) override {
    return HttpAnswer{};
  }
  Result<HttpAnswer> post(const std::string&, const std::string&,
                          std::chrono::milliseconds) override {
    return HttpAnswer{};
  }
  const Target& target() const override { return target_; }

  bool gives_usage = true;
  bool fails = false;
  std::vector<std::string> sent;

 private:
  Target target_;
};

class FakeServer : public Server {
 public:
  explicit FakeServer(bool tokenizes) { facts_.has_tokenize = tokenizes; }
  const ServerFacts& facts() const override { return facts_; }
  Status flush_cache() override { return {}; }
  Result<uint64_t> count_tokens(std::string_view text) override {
    ++num_counts;
    return count_pieces(text);
  }
  Result<std::map<std::string, double>> metrics() override {
    return std::map<std::string, double>{};
  }
  std::optional<uint64_t> resident_bytes() override { return std::nullopt; }

  unsigned num_counts = 0;

 private:
  ServerFacts facts_;
};

constexpr TextKind kKinds[] = {TextKind::prose, TextKind::code, TextKind::counting};

// With the server's tokenizer a prompt has the length asked for, whatever the kind of text.
TEST(Prompts, AreExactToOneTokenWhereTheServerTokenizes) {
  PromptClient client;
  FakeServer server(true);
  Prompts prompts(client, server, 7);
  for (const TextKind kind : kKinds) {
    for (const uint64_t wanted : {64, 128, 129, 1000, 8192, 65'536}) {
      const auto message = prompts.cold(kind, wanted);
      ASSERT_TRUE(message) << to_string(message.error());
      EXPECT_NEAR(double(kTemplateTokens + count_pieces(*message)), double(wanted), 1) << int(kind);
    }
  }
  EXPECT_EQ(client.sent.size(), 1U) << "the template is learned once";
  EXPECT_LE(server.num_counts, 18U * 8U) << "counting is cheap enough for a load's prompts";
}

// Without one they are within a hundredth, and what was sent to learn from warms no cache.
TEST(Prompts, AreLearnedFromUsageWithoutWarmingTheCache) {
  PromptClient client;
  FakeServer server(false);
  Prompts prompts(client, server, 7);
  const std::string shared = "You are the clerk of a small harbour and answer in short sentences.";
  for (const TextKind kind : kKinds) {
    for (const uint64_t wanted : {128, 1000, 8192, 65'536}) {
      const auto message = prompts.after(shared, kind, wanted);
      ASSERT_TRUE(message) << to_string(message.error());
      EXPECT_TRUE(message->starts_with(shared + "\n\n"));
      EXPECT_NEAR(double(kTemplateTokens + count_pieces(*message)), double(wanted),
                  std::max(1.0, double(wanted) / 100))
          << int(kind);
    }
  }
  for (const std::string& sent : client.sent) {
    EXPECT_FALSE(sent.starts_with(shared));
    EXPECT_LE(count_pieces(sent), 5000U) << "long prompts are not read by the server to learn";
  }
  const size_t num_sent = client.sent.size();
  ASSERT_TRUE(prompts.after(shared, TextKind::prose, 1000));
  EXPECT_EQ(client.sent.size(), num_sent) << "a length is learned once";
}

// No two prompts begin alike, in one run or in two of the same seed; else a cache would answer.
TEST(Prompts, BeginWithANonceThatNoOtherHas) {
  for (const bool tokenizes : {true, false}) {
    PromptClient client;
    FakeServer server(tokenizes);
    std::set<std::string> begins;
    for (int run = 0; run < 2; ++run) {
      Prompts prompts(client, server, 1);
      for (int i = 0; i < 20; ++i) {
        const auto message = prompts.cold(TextKind::code, 100);
        ASSERT_TRUE(message) << to_string(message.error());
        begins.insert(message->substr(0, 27));
      }
    }
    for (const std::string& sent : client.sent) begins.insert(sent.substr(0, 27));
    EXPECT_EQ(begins.size(), 40 + client.sent.size());
  }
}

// Apart from the nonce a run is repeated by its seed.
TEST(Prompts, OfOneSeedDifferInTheirNonceOnly) {
  PromptClient client;
  FakeServer server(true);
  std::vector<std::string> bodies;
  for (const uint64_t seed : {3, 3, 4}) {
    Prompts prompts(client, server, seed);
    std::string both;
    for (int i = 0; i < 2; ++i) {
      const auto message = prompts.cold(TextKind::prose, 400);
      ASSERT_TRUE(message) << to_string(message.error());
      both += message->substr(27);
    }
    bodies.push_back(both);
  }
  EXPECT_EQ(bodies[0], bodies[1]);
  EXPECT_NE(bodies[0], bodies[2]);
}

TEST(Prompts, SayWhatIsInTheWay) {
  PromptClient client;
  FakeServer tokenizes(true);
  FakeServer tokenizes_not(false);
  Prompts exact(client, tokenizes, 1);
  Prompts learned(client, tokenizes_not, 1);
  for (Prompts* prompts : {&exact, &learned}) {
    const auto too_short = prompts->cold(TextKind::prose, 20);
    ASSERT_FALSE(too_short);
    EXPECT_EQ(too_short.error().code, Code::limit_exceeded);
    const auto too_long = prompts->cold(TextKind::prose, uint64_t{1} << 40);
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().code, Code::limit_exceeded);
  }

  client.gives_usage = false;
  Prompts no_usage(client, tokenizes_not, 1);
  const auto uncounted = no_usage.cold(TextKind::prose, 100);
  ASSERT_FALSE(uncounted);
  EXPECT_EQ(uncounted.error().code, Code::unsupported);

  client.fails = true;
  Prompts gone(client, tokenizes, 1);
  const auto failed = gone.cold(TextKind::prose, 100);
  ASSERT_FALSE(failed);
  EXPECT_EQ(to_string(failed.error()),
            "cannot learn the length of a prompt: http://127.0.0.1:1: connection reset");
}

}  // namespace
}  // namespace evener::bench
