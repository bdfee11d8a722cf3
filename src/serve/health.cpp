#include "serve/health.h"

#include <unistd.h>

#include <string>

#include "serve/generator.h"
#include "serve/json.h"
#include "serve/service.h"

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

Json failure_of(const engine::RanksReport& ranks) {
  Json failure = {{"reason", ranks.reason}};
  if (ranks.last_failure) {
    failure["rank"] = ranks.last_failure->rank;
    failure["device"] = ranks.last_failure->device;
    failure["kind"] = ranks.last_failure->kind;
  }
  return failure;
}

HttpResponse ranks_response(const engine::RanksReport& ranks) {
  using State = engine::RanksReport::State;
  if (ranks.state == State::restarting || ranks.state == State::down) {
    const bool is_down = ranks.state == State::down;
    return unavailable(
        is_down ? "Ranks have failed" : "Ranks have failed and are restarted",
        {{"status", is_down ? "down" : "restarting"}, {"failure", failure_of(ranks)}});
  }
  Json body = {{"status", "ok"}};
  if (ranks.state == State::degraded) {
    body = {{"status", "degraded"}, {"layout", ranks.layout}, {"failure", failure_of(ranks)}};
  }
  body["pid"] = getpid();
  return {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(body)};
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
  return ranks_response(state.service->generator->stats().ranks);
}

}  // namespace evener::serve
