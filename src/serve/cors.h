#pragma once

#include <string_view>

#include "serve/http_message.h"

namespace evener::serve {

// "http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443": pages of this machine.
bool is_local_origin(std::string_view origin);

// The headers that let a local page read an answer; none for other origins. Browsers keep the
// answers from all other pages.
Headers cors_headers(const HttpRequest& request);

// The answer to OPTIONS: what a page may send.
HttpResponse preflight_response(const HttpRequest& request);

}  // namespace evener::serve
