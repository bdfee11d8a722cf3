#pragma once

#include <string>

#include "serve/http_message.h"

namespace evener::serve {

enum class BodyLength { known, chunked, until_close };

struct ResponseHeadOptions {
  bool keep_alive = true;
  BodyLength length = BodyLength::known;
  Headers more;  // besides the response's own
};

// Status line and header fields with the empty line behind them. Line breaks in values, which could
// begin a field or an answer of their own, are left out.
std::string response_head(const HttpResponse& response, const ResponseHeadOptions& options);

}  // namespace evener::serve
