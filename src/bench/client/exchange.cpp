#include "bench/client/exchange.h"

#include <fmt/format.h>

#include <utility>

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// A closed connection answers with a reset as fast as the network goes. A server that takes longer
// has seen the request.
constexpr auto kResetTimeMax = 1s;

}  // namespace

Exchange::Exchange(ConnectionContext& context, ConnectionPool& pool, HttpRequest request)
    : context_(context), pool_(pool), request_(std::move(request)), deadline_(context.io) {}

void Exchange::start(Handler& handler, std::chrono::milliseconds timeout) {
  handler_ = &handler;
  timeout_ = timeout;
  set_deadline(timeout);
  connection_ = pool_.take();
  if (connection_ == nullptr) return connect();
  reused_ = true;
  connection_->listen(this);
  on_open();
}

void Exchange::connect() {
  reused_ = false;
  connection_ = pool_.make();
  connection_->listen(this);
  connection_->open();
}

void Exchange::on_open() {
  std::string bytes = head_and_body();
  sent_ = Clock::now();
  connection_->send(std::move(bytes));
  handler_->on_sent(sent_);
}

std::string Exchange::head_and_body() const {
  std::string out =
      fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: evener-bench\r\nAccept: */*\r\n{}",
                  request_.method, context_.url.prefix, request_.path, context_.url.authority(),
                  request_.headers);
  if (request_.method == "POST") {
    out += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n",
                       request_.body.size());
  }
  return out + "\r\n" + request_.body;
}

void Exchange::on_bytes(std::string_view bytes, Clock::time_point at) {
  const auto self = shared_from_this();
  heard_ = true;
  const auto state = parser_.feed(bytes, [&](std::string_view piece) {
    tell_head(at);
    return handler_ != nullptr && handler_->on_body(piece, at) && handler_ != nullptr;
  });
  if (handler_ == nullptr) return;  // cancelled meanwhile
  using State = ResponseParser::State;
  if (state == State::failed) {
    return end(Failure{.kind = Failure::Kind::no_http,
                       .why = fmt::format("what answers at {} does not speak HTTP as it should: {}",
                                          context_.url.authority(), parser_.why())},
               at);
  }
  if (state != State::head) tell_head(at);
  if (state == State::complete || state == State::stopped) end(std::nullopt, at);
}

void Exchange::tell_head(Clock::time_point at) {
  if (handler_ == nullptr || std::exchange(told_head_, true)) return;
  handler_->on_head(parser_.head(), at);
}

void Exchange::on_closed(const Failure& failure, Clock::time_point at) {
  const auto self = shared_from_this();
  const bool is_end = failure.kind == Failure::Kind::reset;
  if (is_end && reused_ && !heard_ && at - sent_ < kResetTimeMax) return connect();
  if (is_end && told_head_ && parser_.end() == ResponseParser::State::complete) {
    return end(std::nullopt, at);
  }
  if (!is_end) return end(failure, at);
  const char* const when = told_head_ ? " inside the answer" : " before it answered";
  end(Failure{.kind = failure.kind, .why = failure.why + when}, at);
}

void Exchange::cancel() {
  end(Failure{.kind = Failure::Kind::cancelled, .why = "cancelled"}, Clock::now());
}

void Exchange::expect_end_within(std::chrono::milliseconds time) {
  if (deadline_.expiry() - Clock::now() > time) set_deadline(time);
}

void Exchange::set_deadline(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (!error) self->on_deadline();
  });
}

void Exchange::on_deadline() {
  if (deadline_.expiry() > Clock::now()) return;  // it was moved while this call was on its way
  end(Failure{.kind = Failure::Kind::timeout,
              .why = fmt::format("no whole answer within {} ms", timeout_.count())},
      Clock::now());
}

void Exchange::end(const std::optional<Failure>& failure, Clock::time_point at) {
  Handler* const handler = std::exchange(handler_, nullptr);
  if (handler == nullptr) return;
  const auto self = shared_from_this();
  deadline_.cancel();
  const auto connection = std::exchange(connection_, nullptr);
  const bool reusable =
      !failure && parser_.state() == ResponseParser::State::complete && parser_.keeps_alive();
  if (connection != nullptr && reusable) {
    pool_.give_back(connection);
  } else if (connection != nullptr) {
    connection->close();
  }
  handler->on_end(failure, at);
}

}  // namespace evener::bench
