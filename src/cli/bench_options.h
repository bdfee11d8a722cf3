#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/client.h"
#include "bench/experiment_options.h"
#include "cli/bench_report_files.h"
#include "cli/command_line.h"

namespace evener::cli {

// What every experiment of bench is told.
struct BenchOptions {
  bench::Target target;  // no URL: a server of our own
  bool insecure = false;
  std::filesystem::path serve_model;
  std::string server_args;
  std::filesystem::path store;
  std::string note;
  std::vector<std::string> cards;
  double timeout_s = 600;
  bench::ExperimentOptions experiment;
  ReportOptions report;
};

// --url, --model, ..., of experiments that ask a server.
void add_server_options(CommandLine& line, BenchOptions& options);

// --store, --note, --rounds, --html, ...
void add_run_options(CommandLine& line, BenchOptions& options);

// "-c 8192 --kv 'q8_0'" in words, as a shell would: quotes keep spaces. Errors: invalid_argument
// (a quote that does not end).
Result<std::vector<std::string>> split_words(const std::string& text);

}  // namespace evener::cli
