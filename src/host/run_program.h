#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace evener::host {

// Where the system keeps a program of this name; only folders that root alone can write to are
// looked into, for a capture runs as root.
std::optional<std::string> find_program(const std::string& name);

struct ProgramLimits {
  std::chrono::milliseconds time{10'000};
  size_t output_bytes = size_t{1} << 20;
};

// Runs a program with nothing on its standard input and the locale C, and returns what it printed
// to standard output. Errors: unavailable (cannot be started, ended badly, took too long; it is
// killed then), limit_exceeded (printed too much).
Result<std::string> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                const ProgramLimits& limits);

}  // namespace evener::host
