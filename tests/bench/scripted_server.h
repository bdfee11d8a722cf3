#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace evener::bench {

// What the server is like. As it stands here it behaves well: it answers as Evener does, counts
// tokens (a token is a word and the blank behind it) and what it knew before, and speaks a word
// each half millisecond.
struct Script {
  // Whose routes it has beside /v1/models, /v1/chat/completions, /v1/completions and /health.
  enum class Manners : uint8_t { evener, sglang, vllm, llama_server, ollama, plain };
  Manners manners = Manners::evener;

  std::vector<std::string> models = {"scripted"};
  std::string api_key;  // empty: none is wanted
  uint64_t context_tokens = 8192;
  uint64_t max_running = 4;
  uint64_t chunk_tokens = 512;
  uint32_t natural_length = 20;  // words of an answer whose length nobody forces
  std::chrono::microseconds time_per_prompt_token{0};
  std::chrono::microseconds time_per_token{500};
  bool takes_ignore_eos = true;         // else it ends at its natural length
  bool refuses_unknown_fields = false;  // 400 for ignore_eos
  bool counts_in_each_event = true;     // where it is asked to
  bool counts_cached = true;
  size_t page_tokens = 16;  // it knows whole pages of a prompt
  bool tells_timings = true;
  std::string more_metrics;  // behind its own in /metrics

  // Words for a request's body; empty: it counts, "1 2 3 ".
  std::function<std::vector<std::string>(const json::Value& body)> answer;

  // Stops before this word of each answer until ScriptedServer::release.
  std::optional<uint32_t> hold_at;

  // From here on: what is wrong with it. Places are numbers of words, from 0.
  std::optional<uint32_t> ends_at;  // as if the model had ended there
  bool says_cached = false;         // all but one token of every prompt were known from before
  bool flush_does_nothing = false;  // and is answered with yes
  uint32_t num_flushes_busy = 0;    // so many are answered with "busy" first
  uint32_t words_per_event = 1;
  bool holds_back = false;  // all events in one write at the end
  std::optional<uint32_t> stalls_at;
  std::chrono::milliseconds stall{0};
  int status = 200;  // of chat and completions
  std::optional<uint32_t> resets_at;
  std::optional<uint32_t> breaks_off_at;  // an orderly end, but no finish_reason and no [DONE]
  bool no_done = false;
  std::optional<uint32_t> error_event_at;
  std::optional<uint32_t> malformed_event_at;  // and goes on
  enum class Usage : uint8_t {
    right,
    none,
    too_few_out,   // half of the words it spoke
    too_many_out,  // more than max_tokens
    other_prompt,  // a prompt of 100 tokens more
    shrinks,       // the last count is smaller than one before it
  };
  Usage usage = Usage::right;
  bool silent = false;        // 200, [DONE], and not a word
  bool is_a_website = false;  // HTML on every route
};

// An OpenAI-compatible server on a free port of the loopback, to be tested against. A thread of its
// own for each connection.
class ScriptedServer {
 public:
  explicit ScriptedServer(Script script = {});
  ~ScriptedServer();  // ends all connections

  std::string url() const;  // "http://127.0.0.1:PORT"

  void set(Script script);  // for requests from here on

  // Lets go of all answers that are held, and of those to come. Blocks: until `num` are held.
  void release();
  void wait_until_held(size_t num = 1);

  std::vector<json::Value> bodies() const;  // of chat and completions, in order of arrival
  size_t num_flushes() const;               // that were answered with yes

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evener::bench
