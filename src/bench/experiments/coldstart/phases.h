#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/client.h"

namespace evener::bench {

using Seconds = std::chrono::duration<double>;

// What an answer of /health says.
struct Health {
  bool is_ready = false;
  std::optional<pid_t> pid;
  std::string phase;  // of loading; empty: not told
};
Health read_health(const HttpAnswer& answer);

struct Phase {
  std::string name;
  Seconds time{0};
};

// The phases that Evener's log tells, in their order: "start: map 8 ms, pack 30 ms, warm 2 ms,
// ...". Empty if there is no such line; that of the last start, if there are several.
std::vector<Phase> phases_of_log(std::string_view log);

// A start as it was seen from outside, in the order of what happens.
class StartClock {
 public:
  explicit StartClock(Clock::time_point began) : began_(began) {}

  // One answer of /health; call it for each.
  void saw(const Health& health, Clock::time_point at);

  // From the start: the process until it listens, its loading, and the first answer. Loading is
  // told by its phases if `told` are those of the server's own log, or if /health has told them;
  // what is left of it is "rest".
  std::vector<Phase> phases(const std::vector<Phase>& told, Clock::time_point first_token) const;

 private:
  struct Seen {
    std::string phase;
    Clock::time_point at;
  };

  Clock::time_point began_;
  std::optional<Clock::time_point> listens_;
  std::optional<Clock::time_point> ready_;
  std::vector<Seen> seen_;  // where each phase was first seen
};

}  // namespace evener::bench
