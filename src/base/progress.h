#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace evener {

// Progress of long work on a stream: a bar that redraws itself on a terminal, else a log line now
// and then. One thread.
class Progress {
 public:
  explicit Progress(std::FILE* stream = stderr);
  ~Progress();  // clears the bar
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` of the work called `what` is done, 0..1.
  void show(const std::string& what, double fraction);

  // Removes the bar, so that other text can be written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* stream_;
  bool is_terminal_;
  bool bar_visible_ = false;
  std::string last_what_;
  Clock::time_point last_shown_;
};

}  // namespace evener
