#include "bench/server/kind.h"

// GET /get_server_info, later /server_info: all of its launch arguments, and its schedulers'
// states.

namespace evener::bench {
namespace {

const json::Value* info(Look& look) {
  if (const json::Value* answer = look.get("/get_server_info")) return answer;
  return look.get("/server_info");
}

bool recognise(Look& look) {
  return find(info(look), {"chunked_prefill_size"}) && find(info(look), {"model_path"});
}

void read(Look& look, const json::Value& entry, ServerFacts& facts) {
  const json::Value* told = info(look);
  facts.context_tokens = uint_at(&entry, {"max_model_len"});
  facts.max_running = uint_at(told, {"max_running_requests"});
  facts.chunk_tokens = uint_at(told, {"chunked_prefill_size"});  // -1: not chunked
  Caliber& caliber = facts.caliber;
  note(caliber, "server.version", told, {"version"});
  if (const auto path = word_at(told, {"model_path"})) caliber["model.file"] = base_name(*path);
  note(caliber, "model.quantisation", told, {"quantization"});
  note(caliber, "model.dtype", told, {"dtype"});
  note(caliber, "engine.kv_type", told, {"kv_cache_dtype"});
  note(caliber, "engine.tensor_parallel", told, {"tp_size"});
  note(caliber, "engine.pool_tokens", told, {"max_total_num_tokens"});
  note(caliber, "engine.attention", told, {"attention_backend"});
  note(caliber, "engine.schedule_policy", told, {"schedule_policy"});
  note(caliber, "engine.prefix_cache_off", told, {"disable_radix_cache"});
  note(caliber, "engine.speculation", told, {"speculative_algorithm"});
  note(caliber, "engine.speculation_steps", told, {"speculative_num_steps"});
  note(caliber, "engine.speculation_tokens", told, {"speculative_num_draft_tokens"});
}

Status flush(Client& client, const ServerFacts&) { return flush_by(client, "/flush_cache"); }

bool can_flush(Look&) { return true; }

}  // namespace

const Kind sglang_kind = {.kind = ServerKind::sglang,
                          .word = "sglang",
                          .recognise = recognise,
                          .read = read,
                          .flush = flush,
                          .can_flush = can_flush,
                          .tokenize = tokenize_prompt};

}  // namespace evener::bench
