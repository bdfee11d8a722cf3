#pragma once

#include "serve/json.h"
#include "serve/service.h"

namespace evener::serve {

// The entry of /v1/models. max_model_len is what one request may really take, prompt and answer
// together, and not what the model was trained for; meta.context_limit says what keeps it from
// being more.
Json model_entry(const Service& service);

// GET /v1/models.
Json model_list(const Service& service);

// GET /props: llama-server's way of saying what is loaded.
Json props(const Service& service);

}  // namespace evener::serve
