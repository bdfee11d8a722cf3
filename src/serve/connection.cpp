#include "serve/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <utility>

#include "base/log.h"
#include "serve/connection_exchange.h"
#include "serve/connection_list.h"
#include "serve/response_head.h"
#include "serve/sse.h"

namespace evener::serve {
namespace asio = boost::asio;
namespace {

constexpr size_t kReadBytes = size_t{16} << 10;     // each connection has them all the time
constexpr size_t kReadAheadMax = size_t{64} << 10;  // of requests behind the one being answered
constexpr std::chrono::milliseconds kLingerTime{2'000};
constexpr std::chrono::milliseconds kProbeInterval{5'000};
constexpr int kClientGone = 499;  // in the log only
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

ApiError request_timeout() {
  ApiError error = invalid_value("", "the request did not arrive in time");
  error.status = 408;
  error.code = "request_timeout";
  return error;
}

ApiError internal_fault() {
  return to_api_error(Error{.code = Code::internal,
                            .doing = "answer a request",
                            .where = "",
                            .why = "an exception was thrown",
                            .remedy = ""});
}

// The one place where exceptions of libraries (memory, JSON) end.
void handle_safely(HttpHandler& handler, const ExchangePtr& exchange) {
  try {
    handler.handle(exchange);
  } catch (const std::exception& exception) {
    log::error("request {}: {}", exchange->request().id, exception.what());
    exchange->respond(to_response(internal_fault()));
  }
}

// A connection that is broken shows it where it matters, by reading or writing.
void log_trifle(const boost::system::error_code& error) {
  log::debug("a connection: {}", error.message());
}

bool is_reset(int descriptor) {
  pollfd poll_set{.fd = descriptor, .events = 0, .revents = 0};
  return poll(&poll_set, 1, 0) > 0 && (poll_set.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

Connection::Connection(Tcp::socket socket, Strand strand, ConnectionContext context)
    : socket_(std::move(socket)),
      strand_(std::move(strand)),
      context_(context),
      deadline_(strand_),
      write_timer_(strand_),
      ping_timer_(strand_),
      probe_timer_(strand_),
      reader_({.header_bytes_max = context.options.header_bytes_max,
               .body_bytes_max = context.options.body_bytes_max}),
      chunk_(kReadBytes) {
  context_.list.add(this);
}

Connection::~Connection() { context_.list.remove(this); }

void Connection::start() {
  asio::dispatch(strand_, [self = shared_from_this()] {
    ErrorCode error;
    if (self->socket_.set_option(Tcp::no_delay(true), error)) log_trifle(error);
    const Tcp::endpoint client = self->socket_.remote_endpoint(error);
    if (error) log_trifle(error);
    self->address_ = client.address().to_string();
    self->set_deadline(self->context_.options.header_time_max);
    self->read_more();
  });
}

void Connection::abort(AbortReason reason) {
  asio::dispatch(strand_, [self = shared_from_this(), reason] {
    self->closing_ = true;
    if (self->current_ && !self->answer_.ended) self->current_->abort(reason);
  });
}

void Connection::close_when_idle() {
  asio::dispatch(strand_, [self = shared_from_this()] {
    self->closing_ = true;
    if (self->phase_ == Phase::reading && self->reader_.untouched()) self->close();
  });
}

// ---- reading

void Connection::read_more() {
  if (reading_ || client_ended_ || phase_ == Phase::closed) return;
  if (phase_ == Phase::answering && received_.size() >= kReadAheadMax) return watch_for_reset();
  reading_ = true;
  socket_.async_read_some(
      asio::buffer(chunk_),
      asio::bind_executor(strand_,
                          [self = shared_from_this()](const ErrorCode& error, size_t num_bytes) {
                            self->on_read(error, num_bytes);
                          }));
}

void Connection::on_read(const ErrorCode& error, size_t num_bytes) {
  reading_ = false;
  if (phase_ == Phase::closed) return;
  if (error == asio::error::eof) return on_client_end();
  if (error) return lose_client(AbortReason::client_gone);
  if (phase_ != Phase::lingering) received_.append(chunk_.data(), num_bytes);
  if (phase_ == Phase::reading) parse();
  read_more();
}

void Connection::parse() {
  while (phase_ == Phase::reading && !received_.empty()) {
    if (reader_.untouched()) set_deadline(context_.options.header_time_max);
    const bool was_header = reader_.state() == RequestReader::State::header;
    const auto used = reader_.feed(received_);
    if (!used) return fail_reading(used.error());
    received_.erase(0, *used);
    const bool has_head = reader_.state() != RequestReader::State::header;
    if (was_header && has_head && !accept_head()) return;
    if (reader_.state() == RequestReader::State::done) return dispatch();
    if (*used == 0) break;
  }
  // What the reader leaves is the beginning of a line; no line of a body is that long.
  if (received_.size() > context_.options.header_bytes_max + kReadBytes) {
    fail_reading(invalid_value("", "the request is not valid HTTP: a line is too long"));
  }
}

// False if the request is refused before its body has come.
bool Connection::accept_head() {
  set_deadline(context_.options.body_time_max);
  auto refusal = context_.handler.refuse(reader_.head());
  if (refusal) {
    const bool body_is_missing = reader_.state() != RequestReader::State::done;
    answer_ = {.keep_alive = reader_.keep_alive() && !body_is_missing,
               .http10 = reader_.is_http10()};
    make_current(reader_.take_request());
    begin_answer(*refusal, false);
    end_answer(!body_is_missing);
    return false;
  }
  const bool wants_continue =
      reader_.state() == RequestReader::State::body && reader_.expects_continue();
  if (wants_continue && received_.empty()) send(kContinue);
  return true;
}

void Connection::dispatch() {
  answer_ = {.keep_alive = reader_.keep_alive(), .http10 = reader_.is_http10()};
  make_current(reader_.take_request());
  asio::post(context_.workers, [&handler = context_.handler, exchange = current_]() noexcept {
    handle_safely(handler, exchange);
  });
}

void Connection::make_current(HttpRequest request) {
  phase_ = Phase::answering;
  deadline_.cancel();
  request.address = address_;
  current_ = std::make_shared<ConnectionExchange>(shared_from_this(), std::move(request));
}

void Connection::fail_reading(const ApiError& error) {
  HttpRequest request;
  if (reader_.state() != RequestReader::State::header) request = reader_.take_request();
  if (request.method.empty()) request.method = "-";
  answer_ = {.keep_alive = false};
  make_current(std::move(request));
  begin_answer(to_response(error), false);
  end_answer(false);
}

// ---- has the client gone, or does it only say no more?

void Connection::on_client_end() {
  client_ended_ = true;
  if (phase_ != Phase::answering) return close();
  probe();
}

void Connection::probe() {
  if (phase_ != Phase::answering || answer_.ended) return;
  if (answer_.stream || (answer_.stream_head && answer_.http10)) {
    write_stream(std::string(kSsePing));
  } else if (!answer_.begun && !answer_.http10) {
    send(kContinue);
  }
  if (phase_ != Phase::answering) return;
  watch_for_reset();
  probe_timer_.expires_after(kProbeInterval);
  probe_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->probe();
  });
}

void Connection::watch_for_reset() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(
      Tcp::socket::wait_error,
      asio::bind_executor(strand_, [self = shared_from_this()](const ErrorCode& error) {
        self->watching_ = false;
        if (error || self->phase_ == Phase::closed) return;
        if (is_reset(self->socket_.native_handle())) {
          return self->lose_client(AbortReason::client_gone);
        }
        self->watch_for_reset();
      }));
}

void Connection::set_deadline(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->on_deadline();
  });
}

void Connection::on_deadline() {
  // A deadline that was moved in the moment it passed.
  if (deadline_.expiry() > Clock::now() || phase_ == Phase::answering) return;
  if (phase_ == Phase::reading && !reader_.untouched()) return fail_reading(request_timeout());
  close();
}

// ---- answering

void Connection::promise_stream(HttpResponse head) {
  answer_.stream_head = std::move(head);
  start_ping(context_.options.ping_interval);
}

void Connection::begin_stream_if_promised() {
  if (!answer_.stream_head) return;
  const HttpResponse head = *std::exchange(answer_.stream_head, std::nullopt);
  begin_answer(head, true);
}

void Connection::begin_answer(const HttpResponse& response, bool stream) {
  if (answer_.begun) return lose_client(AbortReason::client_gone);  // half an answer, then a fault
  const HttpRequest& request = current_->request();
  answer_.begun = true;
  answer_.stream = stream;
  answer_.status = response.status;
  answer_.chunked = stream && !answer_.http10;
  if (stream && answer_.http10) answer_.keep_alive = false;
  const bool keep = answer_.keep_alive && !closing_;
  if (!keep) closing_ = true;
  std::string bytes = response_head(
      response,
      {.keep_alive = keep,
       .length = stream ? (answer_.chunked ? BodyLength::chunked : BodyLength::until_close)
                        : BodyLength::known,
       .more = context_.handler.common_headers(request)});
  if (request.method != "HEAD") bytes += response.body;
  send(bytes);
}

void Connection::write_stream(const std::string& bytes) {
  if (answer_.ended || phase_ != Phase::answering) return;
  begin_stream_if_promised();
  if (!answer_.stream || answer_.ended || bytes.empty()) return;
  send(answer_.chunked ? fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes) : bytes);
  if (unsent_.size() + sending_.size() - num_sent_ > context_.options.unsent_bytes_max) {
    lose_client(AbortReason::reader_too_slow);
  }
}

void Connection::end_answer(bool keep_connection) {
  if (answer_.ended || phase_ != Phase::answering) return;
  begin_stream_if_promised();
  answer_.ended = true;
  if (!keep_connection) closing_ = true;
  if (answer_.chunked) send("0\r\n\r\n");
  current_->detach();
  finish_if_sent();
}

void Connection::fail_answer(const ApiError& error) {
  if (answer_.begun) {
    write_stream("data: " + to_json(error) + "\n\n");
    return end_answer(false);
  }
  answer_.stream_head.reset();
  begin_answer(to_response(error), false);
  end_answer(true);
}

void Connection::start_ping(std::chrono::milliseconds wait) {
  ping_timer_.expires_after(wait);
  ping_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    const bool streams = self->answer_.stream || self->answer_.stream_head;
    if (error || self->phase_ != Phase::answering || !streams || self->answer_.ended) return;
    const auto interval = self->context_.options.ping_interval;
    const auto silence =
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - self->last_write_);
    if (silence >= interval) self->write_stream(std::string(kSsePing));
    if (self->phase_ == Phase::answering)
      self->start_ping(silence >= interval ? interval : interval - silence);
  });
}

// The answer is of no use any more.
void Connection::lose_client(AbortReason reason) {
  if (phase_ == Phase::closed) return;
  const auto exchange = current_;
  if (exchange && !answer_.ended) exchange->abandon(reason);
  close();
}

// ---- writing

void Connection::send(std::string_view bytes) {
  if (phase_ == Phase::closed) return;
  last_write_ = Clock::now();
  unsent_ += bytes;
  if (!writing_) write_some();
}

void Connection::write_some() {
  if (num_sent_ == sending_.size()) {
    sending_ = std::exchange(unsent_, {});
    num_sent_ = 0;
  }
  writing_ = true;
  write_timer_.expires_after(context_.options.write_time_max);
  write_timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (error || !self->writing_ || self->write_timer_.expiry() > Clock::now()) return;
    self->lose_client(AbortReason::reader_too_slow);
  });
  socket_.async_write_some(
      asio::buffer(sending_.data() + num_sent_, sending_.size() - num_sent_),
      asio::bind_executor(strand_,
                          [self = shared_from_this()](const ErrorCode& error, size_t num_bytes) {
                            self->on_written(error, num_bytes);
                          }));
}

void Connection::on_written(const ErrorCode& error, size_t num_bytes) {
  writing_ = false;
  write_timer_.cancel();
  if (phase_ == Phase::closed) return;
  if (error) return lose_client(AbortReason::client_gone);
  num_sent_ += num_bytes;
  if (num_sent_ < sending_.size() || !unsent_.empty()) return write_some();
  finish_if_sent();
}

void Connection::finish_if_sent() {
  const bool all_sent = !writing_ && unsent_.empty() && num_sent_ == sending_.size();
  if (phase_ == Phase::answering && answer_.ended && all_sent) finish_request();
}

void Connection::log_request(int status) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  context_.handler.ended({.request = current_->request(),
                          .status = status,
                          .milliseconds = Milliseconds(Clock::now() - answer_.start).count(),
                          .note = current_->take_note()});
}

void Connection::finish_request() {
  log_request(answer_.status);
  current_ = nullptr;
  ping_timer_.cancel();
  probe_timer_.cancel();
  if (closing_ || (client_ended_ && received_.empty())) return close_gently();
  phase_ = Phase::reading;
  set_deadline(context_.options.idle_time_max);
  parse();
  read_more();
  if (phase_ == Phase::reading && client_ended_) close();  // half a request will not get longer
}

// Closing with bytes unread would reset the connection and might take the answer from the client.
void Connection::close_gently() {
  if (client_ended_) return close();
  phase_ = Phase::lingering;
  ErrorCode error;
  if (socket_.shutdown(Tcp::socket::shutdown_send, error)) log_trifle(error);
  set_deadline(kLingerTime);
  read_more();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  if (current_) {
    log_request(kClientGone);
    current_->detach();
    current_ = nullptr;
  }
  for (auto* timer : {&deadline_, &write_timer_, &ping_timer_, &probe_timer_}) timer->cancel();
  ErrorCode error;
  if (socket_.close(error)) log_trifle(error);
}

}  // namespace evener::serve
