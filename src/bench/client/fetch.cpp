#include "bench/client/fetch.h"

#include <fmt/format.h>

#include <utility>

namespace evener::bench {

Fetch::Fetch(ConnectionContext& context, ConnectionPool& pool, HttpRequest request,
             OnAnswer on_answer)
    : name_(fmt::format("{} {}{}", request.method, context.url.prefix, request.path)),
      exchange_(std::make_shared<Exchange>(context, pool, std::move(request))),
      on_answer_(std::move(on_answer)) {}

void Fetch::start(std::chrono::milliseconds timeout) { exchange_->start(*this, timeout); }

void Fetch::cancel() { exchange_->cancel(); }

bool Fetch::on_body(std::string_view bytes, Clock::time_point) {
  too_large_ = answer_.body.size() + bytes.size() > kBodyBytesMax;
  if (!too_large_) answer_.body += bytes;
  return !too_large_;
}

void Fetch::on_end(const std::optional<Failure>& failure, Clock::time_point) {
  const OnAnswer on_answer = std::move(on_answer_);
  Error error = {.code = Code::unavailable,
                 .doing = "ask the server",
                 .where = name_,
                 .why = {},
                 .remedy = {}};
  if (failure) {
    if (failure->kind == Failure::Kind::no_http) error.code = Code::corrupt;
    if (failure->kind == Failure::Kind::cancelled) error.code = Code::cancelled;
    error.why = failure->why;
    return on_answer(std::move(error));
  }
  if (too_large_) {
    error.code = Code::limit_exceeded;
    error.why = fmt::format("the answer has more than {} MiB", kBodyBytesMax >> 20);
    return on_answer(std::move(error));
  }
  on_answer(std::move(answer_));
}

}  // namespace evener::bench
