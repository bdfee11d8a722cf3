#pragma once

#include "bench/server.h"
#include "bench/server/look.h"

namespace evener::bench {

// One kind of server: one file of kinds/ and one line in kinds.cpp.
struct Kind {
  ServerKind kind;
  const char* word;  // of the caliber's server.kind

  bool (*recognise)(Look& look);

  // What its routes tell, into facts and caliber. `entry` is the model's of /v1/models.
  void (*read)(Look& look, const json::Value& entry, ServerFacts& facts);

  // Null: it has none. Errors: unsupported (this one was started without), unavailable (busy).
  Status (*flush)(Client& client, const ServerFacts& facts);
  // Whether flush would work, without flushing. Null with it.
  bool (*can_flush)(Look& look);

  // The body for POST /tokenize that counts `text` alone. Null: it has no such route.
  json::Value (*tokenize)(std::string_view text, const ServerFacts& facts);
};

extern const Kind evener_kind;
extern const Kind sglang_kind;
extern const Kind vllm_kind;
extern const Kind llama_server_kind;
extern const Kind ollama_kind;
extern const Kind strata_kind;
extern const Kind other_kind;

// The first that recognises itself; other_kind recognises all.
const Kind& kind_of(Look& look);

// `caliber[name]` = the plain value at `path`, if there is one.
void note(Caliber& caliber, const char* name, const json::Value* root, Path path);

// POST or GET without a body; a 400 or a body that says success: false is `unavailable`, any other
// status but 200 `unsupported`.
Status flush_by(Client& client, const std::string& path);

// Bodies for POST /tokenize: of llama.cpp's shape, which Evener shares, and of vLLM's, which SGLang
// does.
json::Value tokenize_content(std::string_view text, const ServerFacts& facts);
json::Value tokenize_prompt(std::string_view text, const ServerFacts& facts);

// The owner that /v1/models names for its first model.
std::string owner(Look& look);

}  // namespace evener::bench
