#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "bench/record.h"

namespace evener::bench {

// A server that is started and stopped to measure how long that takes. Its end stops it.
class StartedServer {
 public:
  virtual ~StartedServer() = default;

  // Returns at once, with the moment from which time counts. Errors: unavailable.
  virtual Result<Clock::time_point> start() = 0;
  virtual std::string how_it_ended() = 0;  // empty: it runs
  virtual bool is_own(pid_t pid) const = 0;
  virtual std::string log() const = 0;  // the end of what it wrote since its start
  // Tells it to stop and waits until it has. Errors: unavailable.
  virtual Status stop() = 0;
};

// A line for the shell. It runs in a process group of its own, and all of that group is ended.
std::unique_ptr<StartedServer> make_command_server(const std::string& command);

// A unit of systemd, by systemctl. One that was active at first is so again after its end.
Result<std::unique_ptr<StartedServer>> make_unit_server(const std::string& unit);

// Whether `pid` is `ancestor` or was started by it, at any depth.
bool descends_from(pid_t pid, pid_t ancestor);

}  // namespace evener::bench
