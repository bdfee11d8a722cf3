#include <charconv>
#include <limits>

#include "bench/server/kind.h"

// GET /version and /metrics; the launch arguments are told only in part, by a metric's labels.

namespace evener::bench {
namespace {

constexpr std::string_view kCacheConfig = "vllm:cache_config_info";

bool has_metrics(Look& look) {
  const Samples* samples = look.metrics();
  if (!samples) return false;
  const auto at = samples->lower_bound("vllm:");
  return at != samples->end() && at->first.starts_with("vllm:");
}

bool recognise(Look& look) {
  return find(look.get("/version"), {"version"}) && (owner(look) == "vllm" || has_metrics(look));
}

std::optional<uint64_t> number(const std::optional<std::string>& word) {
  uint64_t value = 0;
  if (!word) return std::nullopt;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), value);
  if (error != std::errc() || end != word->data() + word->size()) return std::nullopt;
  return value;
}

void read_cache_config(const Samples& samples, Caliber& caliber) {
  const auto label = [&](const char* name) { return label_of(samples, kCacheConfig, name); };
  if (const auto type = label("cache_dtype")) caliber["engine.kv_type"] = *type;
  if (const auto on = label("enable_prefix_caching")) caliber["engine.prefix_cache"] = *on;
  const auto block = number(label("block_size"));
  const auto blocks = number(label("num_gpu_blocks"));
  if (!block || !blocks) return;
  if (*block > 0 && *blocks > std::numeric_limits<uint64_t>::max() / *block) return;
  caliber["engine.pool_tokens"] = std::to_string(*block * *blocks);
}

void read(Look& look, const json::Value& entry, ServerFacts& facts) {
  facts.context_tokens = uint_at(&entry, {"max_model_len"});
  note(facts.caliber, "server.version", look.get("/version"), {"version"});
  if (const auto root = word_at(&entry, {"root"})) facts.caliber["model.file"] = base_name(*root);
  if (const Samples* samples = look.metrics()) read_cache_config(*samples, facts.caliber);
}

Status flush(Client& client, const ServerFacts&) { return flush_by(client, "/reset_prefix_cache"); }

// The route is there with VLLM_SERVER_DEV_MODE=1 alone, and takes POST: GET tells it from none.
bool can_flush(Look& look) {
  const auto answer = look.client().get("/reset_prefix_cache");
  return answer && answer->status == 405;
}

}  // namespace

const Kind vllm_kind = {.kind = ServerKind::vllm,
                        .word = "vllm",
                        .recognise = recognise,
                        .read = read,
                        .flush = flush,
                        .can_flush = can_flush,
                        .tokenize = tokenize_prompt};

}  // namespace evener::bench
