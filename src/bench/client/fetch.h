#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/client.h"
#include "bench/client/exchange.h"

namespace evener::bench {

// One plain request, whose answer is wanted whole. The client's thread alone.
class Fetch : private Exchange::Handler {
 public:
  using OnAnswer = std::function<void(Result<HttpAnswer>)>;

  // `on_answer` comes exactly once; this may be dropped in it, not before.
  Fetch(ConnectionContext& context, ConnectionPool& pool, HttpRequest request, OnAnswer on_answer);

  void start(std::chrono::milliseconds timeout);
  void cancel();

  static constexpr size_t kBodyBytesMax = size_t{64} << 20;

 private:
  void on_sent(Clock::time_point) override {}
  void on_head(const ResponseHead& head, Clock::time_point) override {
    answer_.status = head.status;
  }
  bool on_body(std::string_view bytes, Clock::time_point) override;
  void on_end(const std::optional<Failure>& failure, Clock::time_point) override;

  std::string name_;  // for messages
  std::shared_ptr<Exchange> exchange_;
  OnAnswer on_answer_;
  HttpAnswer answer_;
  bool too_large_ = false;
};

}  // namespace evener::bench
