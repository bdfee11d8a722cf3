#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/caliber.h"
#include "bench/client.h"

namespace evener::bench {

enum class ServerKind : uint8_t { evener, sglang, vllm, llama_server, ollama, strata, other };

// What the server at the other end is and what it offers, by looking, not by its name alone.
struct ServerFacts {
  ServerKind kind = ServerKind::other;
  std::string model;  // as requests must name it
  std::optional<uint64_t> context_tokens;
  std::optional<uint64_t> max_running;  // answers at a time
  // Largest part of a prompt in one step, for the gap formula.
  std::optional<uint64_t> chunk_tokens;
  bool has_tokenize = false;
  bool has_flush = false;
  bool has_metrics = false;
  bool ignores_eos = false;    // takes ignore_eos: seen by a request of a few tokens
  bool counts_tokens = false;  // gives usage in streams
  bool counts_cached = false;  // gives prompt_tokens_details.cached_tokens
  bool tells_timings = false;
  Caliber caliber;  // the server., model. and engine. parts
};

class Server {
 public:
  // Looks at the server, and asks it one small thing. `client` must outlive the result. Errors, all
  // with a remedy: unavailable (down, loading, the small request failed), permission_denied (401,
  // 403), not_found (the model named is none of /v1/models: names those there are), corrupt (no
  // OpenAI-compatible server: what answered instead).
  static Result<std::unique_ptr<Server>> probe(Client& client);
  virtual ~Server() = default;

  virtual const ServerFacts& facts() const = 0;

  // Forgets what was computed. Waits some seconds for a busy server. The first call proves, with
  // three short requests, that a known prompt is forgotten, where the server counts cached tokens.
  // Errors: unsupported (no such route), unavailable (the server was busy, or answered yes and did
  // not do it).
  virtual Status flush_cache() = 0;

  // Of the text alone: no template, no begin-of-text. Exact where has_tokenize; else an error
  // (unsupported).
  virtual Result<uint64_t> count_tokens(std::string_view text) = 0;

  // Counters by their names in /metrics (Prometheus text, labels as they are); empty if there are
  // none. Of speculation: vllm:spec_decode_num_drafts_total, ..._num_draft_tokens_total,
  // ..._num_accepted_tokens_total, ..._num_accepted_tokens_per_pos_total;
  // sglang:spec_accept_length, sglang:spec_accept_rate. llama-server tells it with each answer
  // (ServerTimes).
  virtual Result<std::map<std::string, double>> metrics() = 0;

  // Resident bytes of its process, where /metrics tells (process_resident_memory_bytes: Evener and
  // the servers written in Python).
  virtual std::optional<uint64_t> resident_bytes() = 0;
};

}  // namespace evener::bench
