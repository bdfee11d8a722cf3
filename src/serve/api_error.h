#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"
#include "serve/http_message.h"

namespace evener::serve {

// An error as clients see it. Table: reference/serving/api.md 10.
struct ApiError {
  int status = 500;
  std::string type;   // "invalid_request_error"
  std::string code;   // "invalid_value"
  std::string param;  // the field at fault: "messages[2].content"; empty: null
  std::string message;
  // Of a prompt that is too long; clients compute with them.
  std::optional<size_t> num_prompt_tokens;
  std::optional<size_t> context_tokens;
  std::chrono::seconds retry_after{2};  // said with a status of 503 only

  bool operator==(const ApiError&) const = default;
};

// The field has a type or value that no model could serve.
ApiError invalid_value(std::string param, std::string message);
// Well-formed, but not something this server or this model can do.
ApiError not_supported(std::string param, std::string message);
ApiError prompt_too_long(size_t num_prompt_tokens, size_t context_tokens);
ApiError wrong_key();
ApiError unknown_route(const HttpRequest& request);
// Loading, draining or full; clients try again.
ApiError overloaded(std::string message);
// By POST /v1/abort. 400 because official clients send again what fails with 409 or 5xx.
ApiError request_aborted();
// `error` of the engine or a template. Faults of our own say only that; the log has the rest.
ApiError to_api_error(const Error& error);

// {"error":{"message":...,"type":...,"param":...,"code":...}}, one line without a newline.
std::string to_json(const ApiError& error);
// With Retry-After where trying again helps.
HttpResponse to_response(const ApiError& error);

}  // namespace evener::serve
