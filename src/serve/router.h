#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "serve/api_keys.h"
#include "serve/http_handler.h"
#include "serve/metrics.h"
#include "serve/running_answers.h"
#include "serve/server_options.h"
#include "serve/server_state.h"
#include "serve/static_files.h"

namespace evener::serve {

// Which route answers a request: keys, then the table in router.cpp, then the web page. Everything
// it is given outlives it.
class Router : public HttpHandler {
 public:
  Router(const ServerOptions& options, const ServerState& state, Metrics& metrics,
         StaticFiles files);

  std::optional<HttpResponse> refuse(const HttpRequest& head) override;
  Headers common_headers(const HttpRequest& head) override;
  void handle(ExchangePtr exchange) override;
  void ended(const RequestRecord& record) override;

 private:
  void answer_with_model(const ExchangePtr& exchange, const struct Route& route);
  HttpResponse counted(const ApiError& error);

  const ServerState& state_;
  Metrics& metrics_;
  RunningAnswers answers_;
  ApiKeys keys_;
  StaticFiles files_;
};

}  // namespace evener::serve
