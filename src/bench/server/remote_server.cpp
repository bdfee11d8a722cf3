#include "bench/server/remote_server.h"

#include <fmt/format.h>

#include <future>
#include <random>

#include "base/text.h"

namespace evener::bench {
namespace {

using std::chrono::milliseconds;

// The last answer's end is seen here before the server has put its request away.
constexpr milliseconds kBusyPatience{5'000};
constexpr milliseconds kBusyPause{50};
constexpr size_t kProofWords = 400;  // more than a page of any server

Error unsupported(const Client& client, const char* doing, const char* route) {
  return {.code = Code::unsupported,
          .doing = doing,
          .where = client.target().url,
          .why = fmt::format("has no {} that works", route),
          .remedy = ""};
}

void pause(Client& client, milliseconds time) {
  std::promise<void> over;
  std::future<void> done = over.get_future();
  client.call_at(Clock::now() + time, [&over] { over.set_value(); });
  done.wait();
}

// A text that no server has seen.
std::string proof_prompt() {
  std::random_device device;
  std::mt19937_64 random(uint64_t{device()} << 32 | device());
  std::string out = "Count what follows.";
  for (size_t i = 0; i < kProofWords; ++i) out += fmt::format(" {}", random() % 1000);
  return out;
}

}  // namespace

Status RemoteServer::flush_when_idle() {
  const auto patience_end = Clock::now() + kBusyPatience;
  for (;;) {
    Status flushed = kind_.flush(client_, facts_);
    if (flushed || flushed.error().code != Code::unavailable) return flushed;
    if (Clock::now() >= patience_end) return flushed;
    pause(client_, kBusyPause);
  }
}

Status RemoteServer::flush_cache() {
  if (!facts_.has_flush) return unsupported(client_, "flush the server's cache", "route for it");
  if (!flush_proven_ && facts_.counts_cached) return prove_flush();
  return flush_when_idle();
}

// Asks for one prompt, again, and once more after the flush: what the server knew before it must
// have forgotten. Where it knows nothing the second time it keeps no cache, and there is nothing to
// prove.
Status RemoteServer::prove_flush() {
  const std::string prompt = proof_prompt();
  num_cached_of(prompt);
  const uint64_t before = num_cached_of(prompt).value_or(0);
  RETURN_IF_ERROR(flush_when_idle());
  const uint64_t after = before > 0 ? num_cached_of(prompt).value_or(0) : 0;
  if (after > 0) {
    return Error{.code = Code::unavailable,
                 .doing = "flush the server's cache",
                 .where = client_.target().url,
                 .why = fmt::format("it answered that it did, and still knew {} of the {} tokens "
                                    "that it knew before",
                                    after, before),
                 .remedy =
                     "start it without a second cache (of Evener: --cache-ram, --cache-dir), "
                     "or measure with --allow-cached"};
  }
  flush_proven_ = true;
  return before > 0 ? flush_when_idle() : Status();
}

std::optional<uint64_t> RemoteServer::num_cached_of(const std::string& prompt) {
  RequestPlan plan;
  plan.cell = "probe";
  plan.label = "flush proof";
  plan.excluded = true;
  plan.messages = {{.role = "user", .content = prompt}};
  plan.max_tokens = 1;
  const RequestRecord record = client_.ask(std::move(plan));
  return record.num_tokens_cached;
}

Result<uint64_t> count_tokens_by(Client& client, const Kind& kind, const ServerFacts& facts,
                                 std::string_view text) {
  if (!kind.tokenize) return unsupported(client, "count tokens", "POST /tokenize");
  // Texts of hundreds of thousands of tokens take the tokenizers written in Python a while.
  const json::Value body = kind.tokenize(text, facts);
  ASSIGN_OR_RETURN(
      const HttpAnswer answer,
      client.post("/tokenize", body.dump(-1, ' ', false, json::Value::error_handler_t::replace),
                  std::chrono::seconds(120)));
  const auto parsed = json::parse(answer.body, "/tokenize");
  if (answer.status == 200 && parsed) {
    if (const auto count = uint_at(&*parsed, {"count"})) return *count;
    const json::Value* tokens = find(&*parsed, {"tokens"});
    if (tokens && tokens->is_array()) return tokens->size();
  }
  Error error = unsupported(client, "count tokens", "POST /tokenize");
  error.why =
      fmt::format("POST /tokenize answered {}: {}", answer.status, printable(answer.body, 120));
  return error;
}

Result<uint64_t> RemoteServer::count_tokens(std::string_view text) {
  if (!facts_.has_tokenize) return unsupported(client_, "count tokens", "POST /tokenize");
  return count_tokens_by(client_, kind_, facts_, text);
}

Result<std::map<std::string, double>> RemoteServer::metrics() {
  if (!facts_.has_metrics) return Samples();
  return read_metrics(client_);
}

std::optional<uint64_t> RemoteServer::resident_bytes() {
  if (!facts_.has_metrics) return std::nullopt;
  const auto samples = read_metrics(client_);
  if (!samples) return std::nullopt;
  const auto bytes = sum_of(*samples, "process_resident_memory_bytes");
  if (!bytes || *bytes < 0 || *bytes > 1e18) return std::nullopt;
  return uint64_t(*bytes);
}

}  // namespace evener::bench
