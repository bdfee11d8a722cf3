#include "bench/server/kind.h"

// GET /api/version, /api/ps (what is loaded) and POST /api/show.

namespace evener::bench {
namespace {

bool recognise(Look& look) {
  return find(look.get("/api/version"), {"version"}) && find(look.get("/api/ps"), {"models"});
}

// The model as it is loaded; null if it is not.
const json::Value* loaded(Look& look, const std::string& model) {
  const json::Value* models = find(look.get("/api/ps"), {"models"});
  if (!models || !models->is_array()) return nullptr;
  for (const json::Value& entry : *models) {
    if (word_at(&entry, {"name"}) == model || word_at(&entry, {"model"}) == model) return &entry;
  }
  return nullptr;
}

void read(Look& look, const json::Value&, ServerFacts& facts) {
  Caliber& caliber = facts.caliber;
  note(caliber, "server.version", look.get("/api/version"), {"version"});
  if (const json::Value* entry = loaded(look, facts.model)) {
    facts.context_tokens = uint_at(entry, {"context_length"});
    note(caliber, "model.digest", entry, {"digest"});
    note(caliber, "engine.card_bytes", entry, {"size_vram"});
  }
  const json::Value* shown = look.post("/api/show", {{"model", facts.model}});
  note(caliber, "model.quantisation", shown, {"details", "quantization_level"});
  note(caliber, "model.family", shown, {"details", "family"});
  note(caliber, "model.num_parameters", shown, {"model_info", "general.parameter_count"});
}

}  // namespace

const Kind ollama_kind = {.kind = ServerKind::ollama,
                          .word = "ollama",
                          .recognise = recognise,
                          .read = read,
                          .flush = nullptr,
                          .can_flush = nullptr,
                          .tokenize = nullptr};

}  // namespace evener::bench
