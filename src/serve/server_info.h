#pragma once

#include "serve/json.h"
#include "serve/metrics.h"
#include "serve/service.h"

namespace evener::serve {

// "model", "option" or "memory": what keeps the admissible length from being more.
const char* limit_name(engine::ModelFacts::ContextLimit limit);

// GET /server_info. Names end in their unit. What the names mean: docs/api.md.
Json server_info(const Service& service, const Metrics& metrics);

}  // namespace evener::serve
