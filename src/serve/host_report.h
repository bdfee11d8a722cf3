#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "serve/http_message.h"

namespace evener::serve {

// What GET /v1/host answers: a report on this machine as JSON, which the server's owner makes.
// Reading a machine takes hundreds of small files, so an answer serves whoever asks within the next
// seconds. Any thread; while one reads, others wait for the same answer.
class HostReport {
 public:
  using Make = std::function<Result<std::string>()>;
  explicit HostReport(Make make) : make_(std::move(make)) {}

  HttpResponse answer();

 private:
  using Clock = std::chrono::steady_clock;

  Make make_;
  std::mutex mutex_;
  std::string json_;  // empty: none so far
  Clock::time_point made_;
};

// The 404 of a server that does not tell.
HttpResponse host_not_exposed();

}  // namespace evener::serve
