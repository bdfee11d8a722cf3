#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bench/server/kind.h"

// GET /props. A slot keeps what it computed, and is told to forget it by /slots/N?action=erase.

namespace evener::bench {
namespace {

bool recognise(Look& look) {
  const json::Value* props = look.get("/props");
  return word_at(props, {"build_info"}) && find(props, {"default_generation_settings"});
}

void read(Look& look, const json::Value& entry, ServerFacts& facts) {
  const json::Value* props = look.get("/props");
  facts.context_tokens = uint_at(props, {"default_generation_settings", "n_ctx"});
  facts.max_running = uint_at(props, {"total_slots"});
  Caliber& caliber = facts.caliber;
  note(caliber, "server.version", props, {"build_info"});
  if (const auto path = word_at(props, {"model_path"})) caliber["model.file"] = base_name(*path);
  note(caliber, "model.quantisation", &entry, {"meta", "ftype"});
  note(caliber, "model.size_bytes", &entry, {"meta", "size"});
  note(caliber, "model.num_parameters", &entry, {"meta", "n_params"});
}

Status flush(Client& client, const ServerFacts& facts) {
  const uint64_t num_slots = std::min<uint64_t>(facts.max_running.value_or(1), 1024);
  for (uint64_t slot = 0; slot < num_slots; ++slot) {
    RETURN_IF_ERROR(flush_by(client, fmt::format("/slots/{}?action=erase", slot)));
  }
  return {};
}

// An action that there is not: 400 where slots may be acted upon, 501 where they may not.
bool can_flush(Look& look) {
  const auto answer = look.client().post("/slots/0?action=none", "");
  return answer && answer->status == 400;
}

}  // namespace

const Kind llama_server_kind = {.kind = ServerKind::llama_server,
                                .word = "llama-server",
                                .recognise = recognise,
                                .read = read,
                                .flush = flush,
                                .can_flush = can_flush,
                                .tokenize = tokenize_content};

}  // namespace evener::bench
