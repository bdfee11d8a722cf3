#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "bench/run.h"
#include "cli/command_line.h"

namespace evener::cli {

// What a run is told in beside the text on the terminal.
struct ReportOptions {
  std::filesystem::path html;
  std::filesystem::path markdown;
  std::filesystem::path json;
  std::string language = "en";
  bool no_colour = false;
};

// --html, --markdown, --json, --lang, --no-color.
void add_report_options(CommandLine& line, ReportOptions& options);

// That the files can be written, before hours of work are done for them. Errors: not_found,
// permission_denied, invalid_argument (a folder).
Status check_report_files(const ReportOptions& options);

// Prints the run on standard output and writes the files that are asked for.
Status tell_run(const bench::Run& run, const ReportOptions& options);

}  // namespace evener::cli
