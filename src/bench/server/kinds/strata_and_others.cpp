#include "bench/server/kind.h"

// Servers of whose own routes nothing is known here: what /v1/models says is all.

namespace evener::bench {
namespace {

bool is_strata(Look& look) {
  const std::string name = owner(look);
  return name == "strata" || name == "Strata";
}

bool is_any(Look&) { return true; }

void read(Look&, const json::Value& entry, ServerFacts& facts) {
  for (const char* name : {"max_model_len", "context_length", "context_window"}) {
    if (!facts.context_tokens) facts.context_tokens = uint_at(&entry, {name});
  }
  if (!facts.context_tokens) facts.context_tokens = uint_at(&entry, {"meta", "n_ctx"});
  note(facts.caliber, "server.owner", &entry, {"owned_by"});
}

}  // namespace

const Kind strata_kind = {.kind = ServerKind::strata,
                          .word = "strata",
                          .recognise = is_strata,
                          .read = read,
                          .flush = nullptr,
                          .can_flush = nullptr,
                          .tokenize = nullptr};

const Kind other_kind = {.kind = ServerKind::other,
                         .word = "other",
                         .recognise = is_any,
                         .read = read,
                         .flush = nullptr,
                         .can_flush = nullptr,
                         .tokenize = nullptr};

}  // namespace evener::bench
