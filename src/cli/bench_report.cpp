// evener bench report: a run of the store, told again.
#include <filesystem>
#include <string>

#include "cli/bench_load_run.h"
#include "cli/bench_report_files.h"
#include "cli/bench_store_option.h"
#include "cli/command.h"

namespace evener::cli {
namespace {

struct Options {
  std::string run;
  std::filesystem::path store;
  ReportOptions report;
};
Options options;

void add_options(CommandLine& line) {
  line.add("RUN", options.run, "an id, the beginning of one, or last").required();
  add_report_options(line, options.report);
  add_store_option(line, options.store);
}

Result<int> run() {
  RETURN_IF_ERROR(check_report_files(options.report));
  ASSIGN_OR_RETURN(const bench::Run run, load_run(options.store, options.run));
  RETURN_IF_ERROR(tell_run(run, options.report));
  return 0;
}

}  // namespace

extern const Command bench_report_command;
const Command bench_report_command = {
    .name = "report",
    .summary = "Tell a run on the terminal, as a page with charts, as Markdown or as JSON",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
