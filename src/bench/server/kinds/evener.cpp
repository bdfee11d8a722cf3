#include <fmt/format.h>

#include "bench/server/kind.h"

// GET /server_info of src/serve/server_info.cpp; docs/api.md.

namespace evener::bench {
namespace {

bool recognise(Look& look) {
  const json::Value* info = look.get("/server_info");
  return find(info, {"admissible", "tokens"}) && find(info, {"queue", "running_max"});
}

void read(Look& look, const json::Value& entry, ServerFacts& facts) {
  const json::Value* info = look.get("/server_info");
  Caliber& caliber = facts.caliber;
  facts.context_tokens = uint_at(info, {"admissible", "tokens"});
  facts.max_running = uint_at(info, {"queue", "running_max"});
  facts.chunk_tokens = uint_at(info, {"options", "prefill_chunk_tokens"});
  note(caliber, "server.version", info, {"version"});
  note(caliber, "server.commit", info, {"commit"});
  note(caliber, "model.quantisation", &entry, {"meta", "quantisation"});
  note(caliber, "model.family", &entry, {"meta", "family"});
  note(caliber, "model.size_bytes", &entry, {"meta", "size"});
  note(caliber, "model.hash", &entry, {"meta", "hash"});
  note(caliber, "model.num_parameters", &entry, {"meta", "n_params"});
  note(caliber, "engine.kv_type", &entry, {"meta", "kv_type"});
  note(caliber, "engine.device", &entry, {"meta", "device"});
  note(caliber, "engine.pool_tokens", info, {"admissible", "pool_tokens"});
  const json::Value* options = find(info, {"options"});
  if (!options || !options->is_object()) return;
  size_t num_left = 64;  // Evener has a dozen
  for (const auto& [name, value] : options->items()) {
    if (num_left-- == 0 || name.size() > 64) break;
    note(caliber, ("engine." + name).c_str(), &value, {});
  }
}

Status flush(Client& client, const ServerFacts&) { return flush_by(client, "/flush_cache"); }

bool can_flush(Look&) { return true; }

}  // namespace

const Kind evener_kind = {.kind = ServerKind::evener,
                          .word = "evener",
                          .recognise = recognise,
                          .read = read,
                          .flush = flush,
                          .can_flush = can_flush,
                          .tokenize = tokenize_content};

}  // namespace evener::bench
