#pragma once

#include "serve/exchange.h"
#include "serve/metrics.h"
#include "serve/service.h"

namespace evener::serve {

// What a route that needs the model is called with, on a worker thread.
struct RouteCall {
  ExchangePtr exchange;
  ServicePtr service;
  Metrics& metrics;  // outlives every exchange

  void fail(const ApiError& error) const {
    metrics.count_error(error);
    exchange->respond(to_response(error));
  }
};

}  // namespace evener::serve
