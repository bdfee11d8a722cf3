#include "serve/sse.h"

namespace evener::serve {

std::string sse_event(const Json& json) { return "data: " + dump(json) + "\n\n"; }

HttpResponse sse_head() {
  return {.status = 200,
          .content_type = "text/event-stream",
          .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}},
          .body = ""};
}

}  // namespace evener::serve
