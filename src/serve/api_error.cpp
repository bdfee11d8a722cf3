#include "serve/api_error.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "serve/json.h"

namespace evener::serve {
namespace {

std::string message_of(const Error& error) {
  std::string message = error.why.empty() ? error.doing : error.why;
  if (!error.remedy.empty()) message += ": " + error.remedy;
  return message;
}

ApiError internal_error(const Error& error) {
  log::error("{}", to_string(error));
  return {.status = 500,
          .type = "server_error",
          .code = "internal_error",
          .param = "",
          .message = "the server failed on this request; its log says why",
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

}  // namespace

ApiError invalid_value(std::string param, std::string message) {
  return {.status = 400,
          .type = "invalid_request_error",
          .code = "invalid_value",
          .param = std::move(param),
          .message = std::move(message),
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

ApiError not_supported(std::string param, std::string message) {
  return {.status = 400,
          .type = "not_supported_error",
          .code = "not_supported",
          .param = std::move(param),
          .message = std::move(message),
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

ApiError prompt_too_long(size_t num_prompt_tokens, size_t context_tokens) {
  return {.status = 400,
          .type = "invalid_request_error",
          .code = "context_length_exceeded",
          .param = "",
          .message = fmt::format("This model's maximum context length is {} tokens. However, your "
                                 "request has {} input tokens, which leaves no room for an answer. "
                                 "Please reduce the length of the messages.",
                                 context_tokens, num_prompt_tokens),
          .num_prompt_tokens = num_prompt_tokens,
          .context_tokens = context_tokens};
}

ApiError wrong_key() {
  return {.status = 401,
          .type = "authentication_error",
          .code = "invalid_api_key",
          .param = "",
          .message =
              "this server asks for an API key: send \"Authorization: Bearer KEY\" or "
              "\"x-api-key: KEY\"",
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

ApiError unknown_route(const HttpRequest& request) {
  return {.status = 404,
          .type = "not_found_error",
          .code = "unknown_route",
          .param = "",
          .message = fmt::format("there is no route {} {}", printable(request.method, 20),
                                 printable(request.path)),
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

ApiError overloaded(std::string message) {
  return {.status = 503,
          .type = "overloaded_error",
          .code = "unavailable",
          .param = "",
          .message = std::move(message),
          .num_prompt_tokens = {},
          .context_tokens = {}};
}

ApiError request_aborted() {
  ApiError error = invalid_value("", "the request was ended by POST /v1/abort");
  error.code = "request_aborted";
  return error;
}

ApiError to_api_error(const Error& error) {
  switch (error.code) {
    case Code::invalid_argument:
    case Code::limit_exceeded:
    case Code::not_found:
      return invalid_value("", message_of(error));
    case Code::unsupported:
      return not_supported("", message_of(error));
    case Code::context_overflow: {
      ApiError out = invalid_value("", message_of(error));
      out.code = "context_length_exceeded";
      return out;
    }
    case Code::unavailable:
    case Code::cancelled:
      return overloaded(message_of(error));
    case Code::permission_denied:
    case Code::corrupt:
    case Code::out_of_memory:
    case Code::internal:
      break;
  }
  return internal_error(error);
}

std::string to_json(const ApiError& error) {
  Json body = {{"message", error.message},
               {"type", error.type},
               {"param", error.param.empty() ? Json() : Json(error.param)},
               {"code", error.code}};
  if (error.num_prompt_tokens) body["n_prompt_tokens"] = *error.num_prompt_tokens;
  if (error.context_tokens) body["n_ctx"] = *error.context_tokens;
  return dump(Json{{"error", std::move(body)}});
}

HttpResponse to_response(const ApiError& error) {
  HttpResponse response{.status = error.status,
                        .content_type = "application/json",
                        .headers = {},
                        .body = to_json(error)};
  if (error.status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(error.retry_after.count()));
  }
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace evener::serve
