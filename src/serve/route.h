#pragma once

#include "serve/caller.h"
#include "serve/exchange.h"
#include "serve/generation_fields.h"
#include "serve/json.h"
#include "serve/metrics.h"
#include "serve/running_answers.h"
#include "serve/service.h"

namespace evener::serve {

// What a route that needs the model is called with, on a worker thread.
struct RouteCall {
  ExchangePtr exchange;
  ServicePtr service;
  Metrics& metrics;         // outlives every exchange
  RunningAnswers& answers;  // likewise
  Caller caller = {};

  void fail(const ApiError& error) const {
    metrics.count_error(error);
    exchange->fail(error);
  }

  void respond(const Json& json) const {
    exchange->respond(
        {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(json)});
  }

  Origin origin(const GenerationFields& fields) const {
    return {.client = caller.client,
            .session = session_of(exchange->request(), caller, fields.session),
            .salt = salt_of(caller, fields.cache_salt)};
  }
};

}  // namespace evener::serve
