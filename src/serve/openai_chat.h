#pragma once

#include "serve/route.h"

namespace evener::serve {

// POST /v1/chat/completions.
void answer_chat(const RouteCall& call);

}  // namespace evener::serve
