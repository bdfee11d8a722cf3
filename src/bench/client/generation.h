#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/client.h"
#include "bench/client/answer_reader.h"
#include "bench/client/exchange.h"
#include "bench/client/request_body.h"
#include "bench/client/sse_parser.h"

namespace evener::bench {

// The life of one RequestPlan: waits for its time, asks, reads the answer into a record, tells the
// observer. The client's thread alone. All end by on_end of the observer, exactly once.
class Generation : public std::enable_shared_from_this<Generation>, private Exchange::Handler {
 public:
  struct Parts {
    RequestPlan plan;
    RequestBody body;
    Observer observer;
    std::string headers;             // of the HTTP request, with the key
    Clock::time_point start;         // of the run
    std::function<void()> on_ended;  // before the observer hears of it
  };

  Generation(ConnectionContext& context, ConnectionPool& pool, Parts parts);

  void start(const std::string& model);
  void cancel();

  static constexpr size_t kAnswerBytesMax = size_t{256} << 20;

 private:
  void on_sent(Clock::time_point at) override;
  void on_head(const ResponseHead& head, Clock::time_point at) override;
  bool on_body(std::string_view bytes, Clock::time_point at) override;
  void on_end(const std::optional<Failure>& failure, Clock::time_point at) override;

  void send(const std::string& model);
  void settle_body(Clock::time_point at);
  bool take_event(const SseParser::Event& event, Clock::time_point at);
  bool take_events(std::string_view bytes, Clock::time_point at);
  bool fail(Fault fault, std::string words);
  void settle(Clock::time_point at);
  void settle_failure(const Failure& failure);
  Nanoseconds since_start(Clock::time_point at) const { return at - parts_.start; }

  ConnectionContext& context_;
  ConnectionPool& pool_;
  Parts parts_;
  RequestRecord record_;
  AnswerReader reader_;
  SseParser sse_;
  boost::asio::steady_timer due_;
  std::shared_ptr<Exchange> exchange_;
  ResponseHead head_;
  enum class Kind { stream, whole, refusal } kind_ = Kind::refusal;  // of the body
  std::string body_;                                                 // of what is not streamed
  size_t num_body_bytes_ = 0;
  std::optional<Clock::time_point> over_at_;  // the stream said so; its last bytes are on their way
  bool ended_ = false;
};

}  // namespace evener::bench
