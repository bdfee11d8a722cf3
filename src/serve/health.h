#pragma once

#include "serve/http_message.h"
#include "serve/server_state.h"

namespace evener::serve {

// GET /health: 200 when requests are answered, "degraded" if without ranks that have failed; 503
// with phase and progress while loading, with the reason when loading has failed, while ranks that
// have failed are restarted or when they stay down, naming them, and while the server drains.
HttpResponse health_response(const ServerState::View& state);

}  // namespace evener::serve
