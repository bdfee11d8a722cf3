#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serve/api_error.h"
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
// begin_stream(), any number of write() and end_stream(), or fail() instead of any of them. What
// comes after the answer's end, or after the client has gone, is dropped without harm.
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

  // `head`, with an empty body, goes with the first bytes that are written, so that until then an
  // answer can still turn out to be an error; but no later than the first comment that says that
  // the server is alive (ServerOptions::ping_interval).
  virtual void begin_stream(HttpResponse head) = 0;
  virtual void write(std::string bytes) = 0;
  virtual void end_stream(AfterStream after) = 0;

  // Ends the answer with the error: as a response with its status while nothing has been sent, else
  // as the stream's last event, behind which the connection closes.
  virtual void fail(const ApiError& error) = 0;

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
