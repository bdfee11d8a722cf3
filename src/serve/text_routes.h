#pragma once

#include "serve/route.h"

namespace evener::serve {

// POST /tokenize: {"content" | "prompt" | "messages", "add_special", "with_pieces"} ->
// {"tokens", "count", "max_model_len"}. The shapes of llama-server and vLLM in one.
void answer_tokenize(const RouteCall& call);

// POST /detokenize: {"tokens"} -> {"content", "prompt"}.
void answer_detokenize(const RouteCall& call);

// POST /apply-template: {"messages", "tools", ...} -> {"prompt"}.
void answer_apply_template(const RouteCall& call);

}  // namespace evener::serve
