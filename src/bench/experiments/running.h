#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "bench/cell_runner.h"

namespace evener::bench {

// Requests of a cell that run beside each other, watched token by token. One thread uses it. Its
// end cancels what runs and waits for it. After an interrupt all of them are cancelled.
class Running {
 public:
  Running(Bench& bench, CellRunner& cell) : bench_(bench), cell_(cell) {}
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  size_t start(RequestPlan plan);  // gives its place in this

  // Until so many tokens have come; false if it ended before. An event counts as one token where
  // the server does not say how many it has.
  bool wait_for_tokens(size_t index, uint64_t num_tokens);
  const RequestRecord& wait_for_end(size_t index);
  bool has_ended(size_t index);

 private:
  struct Request {
    Client::RequestNumber number = 0;
    uint64_t num_tokens = 0;
    bool ended = false;
    RequestRecord record;
  };

  void wait_until(const Request& request, uint64_t num_tokens);
  void cancel_all();

  Bench& bench_;
  CellRunner& cell_;
  std::mutex mutex_;  // over the requests
  std::condition_variable changed_;
  std::deque<Request> requests_;  // whose places in memory stay
};

}  // namespace evener::bench
