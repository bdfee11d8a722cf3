#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "bench/record.h"

// Asks an OpenAI-compatible server and notes when what came. Knows no experiment and no store.

namespace evener::bench {

// Where the server is and how it is spoken to.
struct Target {
  std::string url;      // "http://127.0.0.1:8080", "https://host/prefix"; a trailing /v1 is allowed
  std::string api_key;  // empty: none
  std::string model;    // empty: the first of /v1/models
  bool verify_certificate = true;
  std::string ca_file;  // empty: the system's
  std::chrono::milliseconds connect_timeout{5'000};
};

struct Message {
  std::string role;
  std::string content;
};

// One request to be. Either messages (chat) or a prompt (plain completion).
struct RequestPlan {
  std::string cell;
  std::string label;
  bool excluded = false;
  std::vector<Message> messages;
  std::string prompt;
  uint32_t num_tokens_in_wanted = 0;
  uint32_t max_tokens = 0;    // 0: not sent
  bool force_length = false;  // ignore_eos and min_tokens = max_tokens
  double temperature = 0;
  std::optional<uint64_t> seed;
  bool stream = true;
  std::string session;  // sent as session_id and prompt_cache_key; empty: none
  json::Value more;     // an object: further fields of the body (tools, response_format); they win
  bool keep_text = false;
  std::chrono::milliseconds timeout{600'000};  // for all of it
  std::optional<Clock::time_point> scheduled;  // open loop: not sent before
};

// All on the client's own thread, which must not be held up; may start and cancel requests.
struct Observer {
  // About to be sent, at its time if it has one. False: it is not, and ends as cancelled.
  std::function<bool()> on_due = {};
  std::function<void(const OutputEvent& event, std::string_view text)> on_event = {};
  std::function<void(RequestRecord record)> on_end = {};  // exactly once, also after cancel
};

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// Whether the client's thread gets the processor before the server's and others', which needs
// rights: root, CAP_SYS_NICE or limits that allow it. Without, times of a loaded machine have
// waiting in them.
bool client_goes_first();

// One thread reads all sockets and takes the time when a read returns. Connections are kept open
// and used again. All methods from any thread.
class Client {
 public:
  // Does not connect yet. `start` is time zero of all records. Errors: invalid_argument (a URL of
  // another scheme, with spaces, ...), not_found (ca_file).
  static Result<std::unique_ptr<Client>> create(const Target& target, Clock::time_point start);
  // Cancels what runs; every on_end has been called then. What an on_end starts meanwhile ends as
  // cancelled too, and what waits for a call_at is not called.
  virtual ~Client() = default;

  using RequestNumber = uint64_t;
  virtual RequestNumber start(RequestPlan plan, Observer observer) = 0;
  virtual void cancel(RequestNumber number) = 0;  // closes its connection; unknown numbers: nothing
  // Calls `f` on the client's thread, at or after `when`.
  virtual void call_at(Clock::time_point when, std::function<void()> f) = 0;

  // Plain requests to the server's other routes; blocks, so not from the client's thread. Errors:
  // unavailable (no connection, reset, timeout). Any status is an answer.
  virtual Result<HttpAnswer> get(const std::string& path,
                                 std::chrono::milliseconds timeout = std::chrono::seconds(10)) = 0;
  virtual Result<HttpAnswer> post(const std::string& path, const std::string& body,
                                  std::chrono::milliseconds timeout = std::chrono::seconds(10)) = 0;

  virtual const Target& target() const = 0;

  // Starts, waits for the end. Not from the client's thread.
  RequestRecord ask(RequestPlan plan);
};

}  // namespace evener::bench
