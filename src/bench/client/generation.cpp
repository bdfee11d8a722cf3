#include "bench/client/generation.h"

#include <fmt/format.h>

#include <utility>

#include "bench/client/refusal.h"

namespace evener::bench {
namespace {

using namespace std::chrono_literals;

// Between [DONE] and the end of the body: servers send both at once, proxies sometimes only one.
constexpr auto kAfterDoneMax = 250ms;
constexpr size_t kRefusalBytesMax = size_t{64} << 10;

}  // namespace

Generation::Generation(ConnectionContext& context, ConnectionPool& pool, Parts parts)
    : context_(context),
      pool_(pool),
      parts_(std::move(parts)),
      reader_(record_, parts_.plan.keep_text),
      due_(context.io) {
  const RequestPlan& plan = parts_.plan;
  record_.cell = plan.cell;
  record_.label = plan.label;
  record_.excluded = plan.excluded;
  record_.prompt_hash = parts_.body.prompt_hash;
  record_.num_tokens_in_wanted = plan.num_tokens_in_wanted;
  record_.num_tokens_out_wanted = plan.max_tokens;
  record_.streamed = plan.stream;
  if (plan.scheduled) record_.scheduled = since_start(*plan.scheduled);
}

void Generation::start(const std::string& model) {
  if (ended_) return;
  if (!parts_.plan.scheduled || *parts_.plan.scheduled <= Clock::now()) return send(model);
  due_.expires_at(*parts_.plan.scheduled);
  due_.async_wait([self = shared_from_this(), model](const boost::system::error_code& error) {
    if (!error) self->send(model);
  });
}

void Generation::send(const std::string& model) {
  if (ended_) return;
  if (parts_.observer.on_due && !parts_.observer.on_due()) return cancel();
  if (ended_) return;  // on_due may have cancelled it
  parts_.body.name_model(model);
  exchange_ = std::make_shared<Exchange>(context_, pool_,
                                         HttpRequest{.method = "POST",
                                                     .path = std::move(parts_.body.path),
                                                     .body = std::move(parts_.body.text),
                                                     .headers = std::move(parts_.headers)});
  parts_.plan.messages.clear();
  exchange_->start(*this, parts_.plan.timeout);
}

void Generation::cancel() {
  const auto self = shared_from_this();
  if (ended_) return;
  if (exchange_ != nullptr) return exchange_->cancel();
  due_.cancel();
  settle_failure({.kind = Failure::Kind::cancelled, .why = {}});
  settle(Clock::now());
}

void Generation::on_sent(Clock::time_point at) { record_.sent = since_start(at); }

void Generation::on_head(const ResponseHead& head, Clock::time_point at) {
  record_.header = since_start(at);
  record_.http_status = head.status;
  head_ = head;
  if (head.status != 200) {
    kind_ = Kind::refusal;
  } else {
    // Servers of streams do not all name the type; those of pages and JSON do.
    const bool other = head.content_type == "application/json" || head.content_type == "text/html";
    kind_ = parts_.plan.stream && !other ? Kind::stream : Kind::whole;
  }
}

bool Generation::on_body(std::string_view bytes, Clock::time_point at) {
  num_body_bytes_ += bytes.size();
  if (over_at_) return true;  // what comes after [DONE] is not read
  if (kind_ == Kind::refusal) {
    body_ += bytes.substr(0, kRefusalBytesMax - body_.size());
    return body_.size() < kRefusalBytesMax;
  }
  if (num_body_bytes_ > kAnswerBytesMax) {
    return fail(Fault::http_error,
                fmt::format("the answer has more than {} MiB", kAnswerBytesMax >> 20));
  }
  if (!head_.content_encoding.empty() && head_.content_encoding != "identity") {
    return fail(Fault::http_error,
                fmt::format("the answer is compressed ('{}'), which nobody asked for: switch that "
                            "off in the proxy, for it holds events back",
                            printable_word(head_.content_encoding)));
  }
  if (kind_ == Kind::stream) return take_events(bytes, at);
  body_ += bytes;
  return true;
}

bool Generation::take_events(std::string_view bytes, Clock::time_point at) {
  const auto self = shared_from_this();
  const SseParser::Outcome outcome =
      sse_.feed(bytes, [&](const SseParser::Event& event) { return take_event(event, at); });
  if (outcome == SseParser::Outcome::too_large) {
    return fail(Fault::malformed_event, fmt::format("an event of the stream has more than {} MiB",
                                                    SseParser::kEventBytesMax >> 20));
  }
  if (outcome == SseParser::Outcome::more) return true;
  if (!record_.done_seen || ended_) return false;
  over_at_ = at;
  exchange_->expect_end_within(kAfterDoneMax);
  return true;
}

void Generation::on_end(const std::optional<Failure>& failure, Clock::time_point at) {
  const auto self = shared_from_this();
  const bool cancelled = failure && failure->kind == Failure::Kind::cancelled;
  if (over_at_ && !cancelled) {  // what failed since then is the connection, not the answer
    reader_.settle_finish();
    return settle(failure ? *over_at_ : at);
  }
  if (failure) {
    settle_failure(*failure);
  } else if (!record_.fault) {
    settle_body(at);
  }
  settle(at);
}

void Generation::settle_body(Clock::time_point at) {
  if (kind_ == Kind::refusal) {
    Refusal refusal = explain_refusal(head_, body_, context_.url);
    fail(refusal.fault, std::move(refusal.words));
    return;
  }
  if (kind_ == Kind::stream) {
    sse_.end([&](const SseParser::Event& event) { return take_event(event, at); });
  } else {
    reader_.take_whole(body_);
  }
  reader_.settle_finish();
  if (kind_ == Kind::whole && parts_.plan.stream && !record_.fault) {
    fail(Fault::http_error, "asked for a stream, and the server answered with type '" +
                                printable_word(head_.content_type) + "'");
  }
}

bool Generation::take_event(const SseParser::Event& event, Clock::time_point at) {
  const auto on_output = [this](const OutputEvent& output, std::string_view text) {
    if (parts_.observer.on_event && !ended_) parts_.observer.on_event(output, text);
  };
  return reader_.take_event(event, since_start(at), on_output) && !ended_;
}

void Generation::settle_failure(const Failure& failure) {
  switch (failure.kind) {
    case Failure::Kind::cancelled:
      record_.finish = Finish::cancelled;
      record_.fault.reset();
      record_.error.clear();
      return;
    case Failure::Kind::timeout:
      fail(Fault::timed_out, failure.why);
      record_.finish = Finish::timeout;
      return;
    case Failure::Kind::no_connection:
      fail(Fault::server_down, failure.why);
      return;
    case Failure::Kind::reset:
      fail(Fault::reset, failure.why);
      return;
    case Failure::Kind::no_http:
      fail(Fault::http_error, failure.why);
      return;
  }
}

bool Generation::fail(Fault fault, std::string words) {
  record_.finish = Finish::error;
  record_.fault = fault;
  record_.error = std::move(words);
  return false;
}

void Generation::settle(Clock::time_point at) {
  if (std::exchange(ended_, true)) return;
  exchange_.reset();
  record_.ended = since_start(at);
  reader_.settle_text();
  parts_.on_ended();
  if (parts_.observer.on_end) parts_.observer.on_end(std::move(record_));
}

}  // namespace evener::bench
