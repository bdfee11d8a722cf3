#pragma once

#include "serve/route.h"

namespace evener::serve {

// POST /v1/abort {"id"} or {"request_id"}, and SGLang's /abort_request {"rid"}: ends the caller's
// requests with that answer's id or x-request-id. Always 200 with their number: they may have ended
// in the meantime.
void answer_abort(const RouteCall& call);

// GET or POST /flush_cache: forgets what was computed for requests that have ended. 400 without
// doing anything while one runs or waits, since what that has computed would stay.
void answer_flush_cache(const RouteCall& call);

// GET /server_info: what is loaded and what goes on, for people and for scripts that write reports.
void answer_server_info(const RouteCall& call);

}  // namespace evener::serve
