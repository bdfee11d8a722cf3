#pragma once

#include "serve/route.h"

namespace evener::serve {

// POST /v1/completions.
void answer_completions(const RouteCall& call);

}  // namespace evener::serve
