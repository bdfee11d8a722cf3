#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::bench {

struct OwnServerOptions {
  std::filesystem::path program;       // evener itself
  std::vector<std::string> arguments;  // of evener serve, but for --host and --port
  std::string api_key;                 // handed on by the environment, where ps shows nothing
  std::vector<int> cpus;               // empty: all
  std::chrono::milliseconds patience{1'800'000};  // until it is ready; large models load long
};

// A port of the loopback address that nobody listens on; somebody may a moment later.
Result<uint16_t> free_port();

// An `evener serve` of our own on a free port of the loopback address. It ends with this object,
// and with this process whatever way that ends. In a process group of its own: Ctrl-C on the
// terminal reaches us alone, and we end it when the last figures are kept.
class OwnServer {
 public:
  // Ready means: /health says 200, and says that the process we started does. `progress` is called
  // all the while with what the server does and how far it is; false: stop waiting (cancelled).
  // Errors: not_found (no such program), unavailable (it ended, with the last lines it wrote; or
  // patience was over).
  using Progress = std::function<bool(const std::string& what, double fraction)>;
  static Result<std::unique_ptr<OwnServer>> start(const OwnServerOptions& options,
                                                  const Progress& progress);
  ~OwnServer();  // SIGTERM, and SIGKILL to one that has not ended some seconds later
  OwnServer(const OwnServer&) = delete;
  OwnServer& operator=(const OwnServer&) = delete;

  // That it still runs, after a sign that it does not: its sockets close a moment before it is
  // known to have ended, which is waited for. Error: unavailable, as of start().
  Status check();

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }

 private:
  OwnServer() = default;
  Status spawn(const OwnServerOptions& options, uint16_t port);
  Status wait_until_ready(const OwnServerOptions& options, const Progress& progress);
  std::string how_it_ended();  // empty: it runs
  Error failed(const std::string& doing, const std::string& why) const;

  std::string url_;
  pid_t pid_ = -1;
  std::filesystem::path log_;  // removed at the end
};

}  // namespace evener::bench
