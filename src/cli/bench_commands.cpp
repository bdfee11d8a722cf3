// evener bench: what it holds. An experiment, or a command on the store or a report, is one file
// and one line here.
#include <array>

#include "cli/command.h"

namespace evener::cli {
namespace {

constexpr std::array<const Command*, 0> kBenchCommands = {};

}  // namespace

extern const Command bench_command;
const Command bench_command = {
    .name = "bench",
    .summary = "Measure a server of any make, or this machine, so that the figures can be trusted",
    .commands = kBenchCommands,
};

}  // namespace evener::cli
