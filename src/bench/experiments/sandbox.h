#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::bench {

// Runs Python code that nobody has read: what a model has written. bubblewrap gives it a system of
// its own, in which there is /usr, read-only, and nothing else: no network, no file of the user's,
// no place to write to, no other process. Its memory, processes and time are limited.
//
// Code that must not run with the rights of the user is run in here or not at all.
class Sandbox {
 public:
  struct Limits {
    std::chrono::milliseconds time{10'000};  // by the clock; of processor time, half of it
    size_t memory_bytes = size_t{512} << 20;
    size_t output_bytes = size_t{64} << 10;
  };

  // Finds the programs, and tries to break out: reaches for a listening port of ours, writes
  // outside, starts processes and takes memory beyond the limits. Errors: unsupported (bubblewrap
  // or Python is not there, the system forbids user namespaces, or something was not held back).
  static Result<Sandbox> open();

  // What `script` printed to its standard output; it finds `arguments` in sys.argv[1:]. Errors:
  // unavailable (ended badly, took too long; all of it is killed then), limit_exceeded (printed too
  // much, or script or arguments are longer than a command line takes).
  Result<std::string> run(const std::string& script, const std::vector<std::string>& arguments,
                          const Limits& limits) const;

 private:
  Sandbox(std::string program, std::vector<std::string> words)
      : program_(std::move(program)), words_(std::move(words)) {}

  std::string program_;
  std::vector<std::string> words_;  // before those of a run
};

}  // namespace evener::bench
