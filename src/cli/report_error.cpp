#include "cli/report_error.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/command.h"

namespace evener::cli {
namespace {

int exit_status(const Error& error) {
  if (error.code == Code::cancelled) return 130;  // as a shell reports Ctrl-C
  return error.code == Code::invalid_argument ? kExitUsage : kExitFailed;
}

}  // namespace

int report_error(const Error& error) {
  fmt::print(stderr, "evener: {}\n", to_string(error));
  return exit_status(error);
}

}  // namespace evener::cli
