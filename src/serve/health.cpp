#include "serve/health.h"

#include <unistd.h>

#include <string>

#include "serve/json.h"

namespace evener::serve {
namespace {

const char* phase_name(engine::LoadState::Phase phase) {
  constexpr const char* kNames[] = {"map", "pack", "warm", "ready"};
  return kNames[static_cast<size_t>(phase)];
}

HttpResponse unavailable(const std::string& message, const Json& details) {
  Json body = {{"status", "unavailable"},
               {"error", {{"code", 503}, {"message", message}, {"type", "unavailable_error"}}}};
  body.update(details);
  body["pid"] = getpid();
  return {.status = 503,
          .content_type = "application/json",
          .headers = {{"Retry-After", "1"}},
          .body = dump(body)};
}

}  // namespace

HttpResponse health_response(const ServerState::View& state) {
  if (state.draining) return unavailable("The server is stopping", Json::object());
  // The whole message with its paths is in the log of whoever started the server.
  if (state.failed) return unavailable("The model could not be loaded", Json::object());
  if (!state.service) {
    return unavailable(
        "Loading model",
        {{"progress",
          {{"phase", phase_name(state.loading.phase)}, {"fraction", state.loading.fraction}}}});
  }
  const Json body = {{"status", "ok"}, {"pid", getpid()}};
  return {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(body)};
}

}  // namespace evener::serve
