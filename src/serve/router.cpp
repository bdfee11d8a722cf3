#include "serve/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "serve/control_routes.h"
#include "serve/cors.h"
#include "serve/health.h"
#include "serve/host_report.h"
#include "serve/json.h"
#include "serve/model_routes.h"
#include "serve/openai_chat.h"
#include "serve/openai_completions.h"
#include "serve/text_routes.h"

namespace evener::serve {

// One row of the table. Exactly one of the functions is set.
struct Route {
  std::string_view method;
  std::string_view path;  // normalised; one ending in / is a prefix
  HttpResponse (*state)(const ServerState::View&, const Metrics&);  // needs no model
  HttpResponse (*facts)(const Service&, const HttpRequest&);  // says something about the model
  void (*run)(const RouteCall&);                              // uses the model
};

namespace {

HttpResponse json_response(const Json& json) {
  return {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(json)};
}

HttpResponse health(const ServerState::View& state, const Metrics&) {
  return health_response(state);
}

HttpResponse version(const ServerState::View& state, const Metrics&) {
  return json_response(
      {{"version", kVersion}, {"commit", kCommit}, {"host_exposed", state.host != nullptr}});
}

HttpResponse host(const ServerState::View& state, const Metrics&) {
  return state.host ? state.host->answer() : host_not_exposed();
}

HttpResponse metrics_text(const ServerState::View& state, const Metrics& metrics) {
  HttpResponse response{.status = 200,
                        .content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .headers = {},
                        .body = ""};
  if (!state.service) {
    response.body = metrics.to_text(nullptr, nullptr);
  } else {
    const engine::Stats stats = state.service->generator->stats();
    response.body = metrics.to_text(&stats, &state.service->generator->facts());
  }
  return response;
}

HttpResponse models(const Service& service, const HttpRequest&) {
  return json_response(model_list(service));
}

// Clients bring names of their own; with one model loaded they mean it, but asking for the facts of
// another one must not be answered with ours.
HttpResponse one_model(const Service& service, const HttpRequest& request) {
  const std::string_view id =
      std::string_view(request.path).substr(std::string_view("/models/").size());
  if (id == service.model_id || id == service.generator->facts().id)
    return json_response(model_entry(service));
  ApiError error = unknown_route(request);
  error.code = "model_not_found";
  error.message = fmt::format("there is no such model; this server has {}", service.model_id);
  return to_response(error);
}

HttpResponse props_of(const Service& service, const HttpRequest&) {
  return json_response(props(service));
}

HttpResponse not_built(const ServerState::View&, const Metrics&) {
  ApiError error = not_supported(
      "", "this route is not served yet; /v1/chat/completions and /v1/completions are");
  error.status = 501;
  return to_response(error);
}

constexpr std::array kRoutes = {
    Route{"POST", "/chat/completions", nullptr, nullptr, answer_chat},
    Route{"POST", "/completions", nullptr, nullptr, answer_completions},
    Route{"POST", "/tokenize", nullptr, nullptr, answer_tokenize},
    Route{"POST", "/detokenize", nullptr, nullptr, answer_detokenize},
    Route{"POST", "/apply-template", nullptr, nullptr, answer_apply_template},
    Route{"POST", "/abort", nullptr, nullptr, answer_abort},
    Route{"POST", "/abort_request", nullptr, nullptr, answer_abort},
    Route{"POST", "/flush_cache", nullptr, nullptr, answer_flush_cache},
    Route{"GET", "/flush_cache", nullptr, nullptr, answer_flush_cache},
    Route{"GET", "/server_info", nullptr, nullptr, answer_server_info},
    Route{"GET", "/get_server_info", nullptr, nullptr, answer_server_info},
    Route{"GET", "/models", nullptr, models, nullptr},
    Route{"GET", "/models/", nullptr, one_model, nullptr},
    Route{"GET", "/props", nullptr, props_of, nullptr},
    Route{"GET", "/health", health, nullptr, nullptr},
    Route{"GET", "/healthz", health, nullptr, nullptr},
    Route{"GET", "/version", version, nullptr, nullptr},
    Route{"GET", "/host", host, nullptr, nullptr},
    Route{"GET", "/metrics", metrics_text, nullptr, nullptr},
    Route{"POST", "/embeddings", not_built, nullptr, nullptr},
    Route{"POST", "/responses", not_built, nullptr, nullptr},
    Route{"POST", "/messages", not_built, nullptr, nullptr},
    Route{"POST", "/messages/count_tokens", not_built, nullptr, nullptr},
    Route{"POST", "/infill", not_built, nullptr, nullptr},
};

bool matches(const Route& route, std::string_view path) {
  if (route.path.ends_with('/'))
    return path.size() > route.path.size() && path.starts_with(route.path);
  return path == route.path;
}

const Route* find_route(const HttpRequest& request) {
  const std::string_view method =
      request.method == "HEAD" ? "GET" : std::string_view(request.method);
  const auto found = std::ranges::find_if(kRoutes, [&](const Route& route) {
    return route.method == method && matches(route, request.path);
  });
  return found == kRoutes.end() ? nullptr : &*found;
}

// The methods that a path does have; empty if it has none.
std::string allowed_methods(std::string_view path) {
  std::string methods;
  for (const Route& route : kRoutes) {
    if (matches(route, path)) methods += route.method == "GET" ? "GET, HEAD, " : "POST, ";
  }
  return methods.empty() ? methods : methods + "OPTIONS";
}

bool is_read(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_health(std::string_view path) { return path == "/health" || path == "/healthz"; }

HttpResponse method_not_allowed(const HttpRequest& request, std::string methods) {
  ApiError error = unknown_route(request);
  error.status = 405;
  error.type = "invalid_request_error";
  error.code = "method_not_allowed";
  error.message = fmt::format("{} takes {}", request.path, methods);
  HttpResponse response = to_response(error);
  response.headers.emplace_back("Allow", std::move(methods));
  return response;
}

}  // namespace

Router::Router(const ServerOptions& options, const ServerState& state, Metrics& metrics,
               StaticFiles files)
    : state_(state), metrics_(metrics), keys_(options.api_keys), files_(std::move(files)) {}

// Open without a key: health, for who watches the server; the page, which then asks for the key;
// and preflights, which browsers send without one.
std::optional<HttpResponse> Router::refuse(const HttpRequest& head) {
  const bool open =
      is_health(head.path) || head.method == "OPTIONS" || (is_read(head) && files_.has(head.path));
  if (!open && !keys_.allow(head)) return counted(wrong_key());
  if (state_.view().draining && !is_health(head.path))
    return counted(overloaded("the server is stopping"));
  return std::nullopt;
}

Headers Router::common_headers(const HttpRequest& head) {
  Headers headers = cors_headers(head);
  headers.emplace_back("x-request-id", head.id);
  return headers;
}

HttpResponse Router::counted(const ApiError& error) {
  metrics_.count_error(error);
  return to_response(error);
}

void Router::handle(ExchangePtr exchange) {
  const HttpRequest& request = exchange->request();
  if (request.method == "OPTIONS") return exchange->respond(preflight_response(request));
  const Route* route = find_route(request);
  if (!route && is_read(request) && files_.has(request.path))
    return exchange->respond(files_.answer(request));
  if (!route) {
    if (std::string methods = allowed_methods(request.path); !methods.empty()) {
      return exchange->respond(method_not_allowed(request, std::move(methods)));
    }
    return exchange->respond(counted(unknown_route(request)));
  }
  if (route->state) return exchange->respond(route->state(state_.view(), metrics_));
  answer_with_model(exchange, *route);
}

void Router::answer_with_model(const ExchangePtr& exchange, const Route& route) {
  const ServerState::View state = state_.view();
  if (!state.service) {
    return exchange->respond(
        counted(overloaded(state.failed ? "the model could not be loaded" : "Loading model")));
  }
  if (route.facts) return exchange->respond(route.facts(*state.service, exchange->request()));
  const HttpRequest& request = exchange->request();
  route.run({.exchange = exchange,
             .service = state.service,
             .metrics = metrics_,
             .answers = answers_,
             .caller = caller_of(request, keys_.key_of(request))});
}

void Router::ended(const RequestRecord& record) {
  const Route* route = find_route(record.request);
  metrics_.count_request(route ? route->path : "other", record.status);
  log::info("{} {} {} {:.1f}ms {}{}{}", record.request.method, record.request.path, record.status,
            record.milliseconds, record.request.id, record.note.empty() ? "" : " ", record.note);
}

}  // namespace evener::serve
