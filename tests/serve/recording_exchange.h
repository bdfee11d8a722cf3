#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serve/exchange.h"

namespace evener::serve {

// An exchange without a socket: runs tasks at once and keeps what is sent.
class RecordingExchange : public Exchange {
 public:
  explicit RecordingExchange(HttpRequest request) : request_(std::move(request)) {}

  const HttpRequest& request() const override { return request_; }
  void respond(HttpResponse response) override {
    response_ = std::move(response);
    abort_ = nullptr;
  }
  void begin_stream(HttpResponse head) override { response_ = std::move(head); }
  void write(std::string bytes) override { stream_ += bytes; }
  void end_stream(AfterStream after) override {
    after_ = after;
    abort_ = nullptr;
  }
  void fail(const ApiError& error) override {
    if (stream_.empty()) return respond(to_response(error));
    write("data: " + to_json(error) + "\n\n");
    end_stream(AfterStream::close_connection);
  }
  void post(Task task) override { task(); }
  void note(std::string text) override { note_ = std::move(text); }
  void on_abort(AbortHandler handler) override {
    if (aborted_before_) return handler(*aborted_before_);
    abort_ = std::move(handler);
  }

  // As the server does it: a handler that answers lets itself go and must not be running then.
  void abort(AbortReason reason) {
    AbortHandler handler = std::exchange(abort_, nullptr);
    handler(reason);
  }

  HttpRequest request_;
  std::optional<HttpResponse> response_;
  std::string stream_;
  std::optional<AfterStream> after_;
  std::string note_;
  AbortHandler abort_;
  std::optional<AbortReason> aborted_before_;  // before anybody asked to be told
};

inline std::shared_ptr<RecordingExchange> recorded_post(const std::string& path, std::string body) {
  return std::make_shared<RecordingExchange>(HttpRequest{.id = "req_test",
                                                         .method = "POST",
                                                         .target = path,
                                                         .path = path,
                                                         .headers = {},
                                                         .body = std::move(body)});
}

}  // namespace evener::serve
