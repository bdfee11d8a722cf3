// evener bench: what it holds. An experiment, or a command on the store or a report, is one file
// and one line here.
#include <array>

#include "cli/command.h"

namespace evener::cli {

extern const Command bench_all_command;
extern const Command bench_sweep_command;
extern const Command bench_concurrency_command;
extern const Command bench_load_command;
extern const Command bench_starvation_command;
extern const Command bench_prefix_command;
extern const Command bench_spec_command;
extern const Command bench_soak_command;
extern const Command bench_quality_command;
extern const Command bench_coldstart_command;
extern const Command bench_kernel_command;
extern const Command bench_link_command;
extern const Command bench_list_command;
extern const Command bench_show_command;
extern const Command bench_report_command;
extern const Command bench_compare_command;
extern const Command bench_export_command;
extern const Command bench_merge_command;
extern const Command bench_verify_command;

namespace {

constexpr auto kBenchCommands = std::to_array<const Command*>({
    &bench_all_command,       &bench_sweep_command,      &bench_concurrency_command,
    &bench_load_command,      &bench_starvation_command, &bench_prefix_command,
    &bench_spec_command,      &bench_soak_command,       &bench_quality_command,
    &bench_coldstart_command, &bench_kernel_command,     &bench_link_command,
    &bench_list_command,      &bench_show_command,       &bench_report_command,
    &bench_compare_command,   &bench_export_command,     &bench_merge_command,
    &bench_verify_command,
});

}  // namespace

extern const Command bench_command;
const Command bench_command = {
    .name = "bench",
    .summary = "Measure a server of any make, or this machine, so that the figures can be trusted",
    .commands = kBenchCommands,
};

}  // namespace evener::cli
