#include "serve/control_routes.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "serve/fields.h"
#include "serve/json.h"
#include "serve/server_info.h"

namespace evener::serve {
namespace {

ApiError busy(const engine::Stats& stats) {
  ApiError error = invalid_value(
      "", fmt::format("{} requests run and {} wait: the cache can be flushed when there are none",
                      stats.running, stats.waiting));
  error.code = "busy";
  return error;
}

}  // namespace

void answer_abort(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  Fields fields(*body);
  std::optional<std::string> id;
  for (const char* name : {"rid", "request_id", "id"}) {
    if (auto named = fields.string(name, kNameBytes)) id = std::move(named);
  }
  if (!id) fields.invalid("id", "must be the id of an answer; or send request_id");
  if (fields.error()) return call.fail(*fields.error());
  call.respond({{"aborted", call.answers.abort(call.caller.salt, *id)}});
}

void answer_flush_cache(const RouteCall& call) {
  const engine::Stats stats = call.service->generator->stats();
  if (stats.running + stats.waiting > 0) return call.fail(busy(stats));
  call.service->generator->flush_cache();
  call.respond({{"success", true},
                {"pages_forgotten", stats.cache.pages_evictable},
                {"states_forgotten", stats.cache.slots_snapshot}});
}

void answer_server_info(const RouteCall& call) {
  call.respond(server_info(*call.service, call.metrics));
}

}  // namespace evener::serve
