#pragma once

#include <memory>

#include "bench/caliber.h"
#include "bench/cpu_share.h"
#include "bench/experiment.h"
#include "bench/own_server.h"
#include "cli/bench_options.h"
#include "cli/long_work.h"

namespace evener::cli {

// Who is measured: a server that was named, or one of our own for as long as this lives; with the
// client that looks at it. All null if the experiment measures the machine.
struct BenchTarget {
  std::unique_ptr<bench::OwnServer> own_server;
  bench::CpuShare cpus;  // empty: not divided
  bench::Target address;
  std::unique_ptr<bench::Client> client;  // outlives `server`
  std::unique_ptr<bench::Server> server;

  // The server., model. and engine. parts, with what is known of a server of our own.
  bench::Caliber caliber(const BenchOptions& options) const;
  bool is_here() const;  // on this machine
};

// Starts what has to be started and looks at it. For an experiment that starts the server itself
// (coldstart) and was told neither how nor where, fills in our own.
Result<BenchTarget> find_target(const bench::Experiment& experiment, BenchOptions& options,
                                LongWork& work);

}  // namespace evener::cli
