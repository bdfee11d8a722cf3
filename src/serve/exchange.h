#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/http_message.h"

namespace evener::serve {

// Why an answer must end before it is complete.
enum class AbortReason {
  client_gone,      // nobody reads any more
  reader_too_slow,  // more unsent bytes or more waiting than the limits allow
  server_stopping,  // drained long enough: say so and end
};

enum class AfterStream { keep_connection, close_connection };

// One request and the way back to its client. Whoever holds it answers exactly once: respond(), or
// begin_stream(), any number of write() and end_stream(). What comes after the answer's end, or
// after the client has gone, is dropped without harm.
//
// Threads: every method may be called from any thread. Tasks and the abort handler run one at a
// time on the exchange's strand.
class Exchange {
 public:
  using Task = std::move_only_function<void()>;
  using AbortHandler = std::move_only_function<void(AbortReason)>;

  virtual ~Exchange() = default;

  virtual const HttpRequest& request() const = 0;

  virtual void respond(HttpResponse response) = 0;

  // Sends status and headers at once; `head.body` must be empty.
  virtual void begin_stream(HttpResponse head) = 0;
  virtual void write(std::string bytes) = 0;
  virtual void end_stream(AfterStream after) = 0;

  // Runs `task` after all tasks posted before it. The queue is bounded: when the strand cannot keep
  // up the exchange is aborted as reader_too_slow and the task is dropped.
  virtual void post(Task task) = 0;

  // Words for the log line that the request gets when it has ended.
  virtual void note(std::string text) = 0;

  // `handler` is called at most once per reason (also when the reason came before the handler) and
  // is let go when the answer has ended.
  virtual void on_abort(AbortHandler handler) = 0;
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace evener::serve
