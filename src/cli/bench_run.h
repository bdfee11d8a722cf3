#pragma once

#include "bench/experiment.h"
#include "cli/bench_options.h"

namespace evener::cli {

// Runs one experiment from the first look at the server to the report: a server of our own where
// none is named, the caliber, the store, the sensors, the experiment, the text on the terminal and
// the files. What was recorded stays whatever happens, and is reported after Ctrl-C, too.
//
// Gives the exit status: 0 if every cell is complete and none voided, else 1.
Result<int> run_bench(const bench::Experiment& experiment, BenchOptions options);

}  // namespace evener::cli
