#pragma once

#include <string>
#include <string_view>

#include "serve/http_message.h"
#include "serve/json.h"

namespace evener::serve {

// Server-sent events as OpenAI's clients read them.

// "data: {...}\n\n"
std::string sse_event(const Json& json);
// The end of a good stream; after an error there is none.
inline constexpr std::string_view kSseDone = "data: [DONE]\n\n";
// A comment: it says that the server is alive and is skipped by every client.
inline constexpr std::string_view kSsePing = ": ping\n\n";

// Status 200 and the headers that keep proxies from collecting the stream.
HttpResponse sse_head();

}  // namespace evener::serve
