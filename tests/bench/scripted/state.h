#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "bench/scripted_server.h"

namespace evener::bench::scripted {

using Words = std::vector<std::string>;

// What all connections of a server share.
class State {
 public:
  Script script() const;
  void set(Script script);

  void note_body(json::Value body);
  std::vector<json::Value> bodies() const;

  // How much of `prompt` was known, in whole pages and at most all but one token; it is known from
  // here on.
  size_t look_up(const Words& prompt);
  // False: busy.
  bool flush();
  size_t num_flushes() const;

  // Blocks until release() or stop().
  void hold();
  void release();
  void wait_until_held(size_t num);

  // Blocks for `time`; false once the server stops.
  bool pass(std::chrono::microseconds time);
  void stop();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Script script_;
  std::vector<json::Value> bodies_;
  std::vector<Words> known_;
  size_t num_flushes_ = 0;
  size_t num_held_ = 0;
  bool released_ = false;
  bool stopping_ = false;
};

}  // namespace evener::bench::scripted
