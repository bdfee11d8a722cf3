#include "serve/host_report.h"

#include "base/log.h"
#include "serve/api_error.h"

namespace evener::serve {
namespace {

constexpr std::chrono::seconds kKeep{5};

}  // namespace

HttpResponse HostReport::answer() {
  const std::lock_guard lock(mutex_);
  if (json_.empty() || Clock::now() - made_ > kKeep) {
    Result<std::string> made = make_();
    if (!made) {
      log::error("{}", to_string(made.error()));
      return to_response(overloaded("this machine could not be read; the server's log says why"));
    }
    json_ = *std::move(made);
    made_ = Clock::now();
  }
  return {.status = 200, .content_type = "application/json", .headers = {}, .body = json_};
}

HttpResponse host_not_exposed() {
  return to_response({.status = 404,
                      .type = "not_found_error",
                      .code = "host_not_exposed",
                      .param = "",
                      .message = "this server does not tell about its machine; it does when it is "
                                 "started with --expose-host",
                      .num_prompt_tokens = {},
                      .context_tokens = {}});
}

}  // namespace evener::serve
