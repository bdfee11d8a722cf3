// evener serve: listens at once, loads, serves until a signal, drains.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/progress.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/join_processes.h"
#include "cli/parallel_options.h"
#include "cli/sharing_options.h"
#include "cli/timing.h"
#include "cli/tuned_layout.h"
#include "doctor/diagnose.h"
#include "doctor/report_json.h"
#include "engine/load.h"
#include "engine/process_placement.h"
#include "host/read_facts.h"
#include "serve/server.h"

namespace evener::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  engine::EngineOptions engine;
  ParallelWords parallel;
  SharingOptions sharing;
  serve::ServerOptions server;
  std::string api_key_file;
  unsigned drain_seconds = 30;
  bool expose_host = false;
  std::string host_facts;
};
Options options;

void add_options(CommandLine& line) {
  add_engine_options(line, options.engine, ModelArgument::positional);
  options.parallel.add_to(line);
  options.parallel.add_failures_to(line);
  add_timing_option(line, options.engine.timing);
  options.sharing.add_to(line, options.engine);
  line.add("--host", options.server.host, "address to listen on");
  line.add("--port", options.server.port, "port to listen on; 0: any free one");
  line.add("--api-key", options.server.api_keys,
           "key that clients must send; may be given several times")
      .from_environment("EVENER_API_KEY");
  line.add("--api-key-file", options.api_key_file, "file with one key a line");
  line.add("--alias", options.server.model_alias,
           "name of the model towards clients; default: the file's name");
  line.add(
      "--expose-host", options.expose_host,
      "tell clients about this machine: cards, tree, findings (GET /v1/host, the page's Machine "
      "tab)");
  line.add("--host-facts", options.host_facts,
           "with --expose-host: tell about the machine of this snapshot or facts.json instead");
  line.add("--drain", options.drain_seconds,
           "seconds that running answers get when the server is told to stop");
}

// The first signal asks to stop, or what keeps the server from going on; wait() returns then.
class StopRequest {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    requested_ = true;
    changed_.notify_all();
  }
  void set(const Error& failure) {
    {
      const std::lock_guard lock(mutex_);
      failure_ = failure;
    }
    set();
  }
  std::optional<Error> failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  bool is_set() {
    const std::lock_guard lock(mutex_);
    return requested_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return requested_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false;
  std::optional<Error> failure_;
};

Result<void> read_api_keys() {
  if (options.api_key_file.empty()) return {};
  std::ifstream file(options.api_key_file);
  if (!file) {
    return Error{.code = Code::not_found,
                 .doing = "read API keys",
                 .where = options.api_key_file,
                 .why = "the file cannot be opened",
                 .remedy = {}};
  }
  const size_t num_before = options.server.api_keys.size();
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) options.server.api_keys.push_back(line);
  }
  if (options.server.api_keys.size() > num_before) return {};
  return Error{.code = Code::invalid_argument,
               .doing = "read API keys",
               .where = options.api_key_file,
               .why = "the file holds no key",
               .remedy = {}};
}

Result<std::string> report_on_host() {
  ASSIGN_OR_RETURN(const host::HostFacts facts, options.host_facts.empty()
                                                    ? host::read_live()
                                                    : host::read_facts(options.host_facts));
  return doctor::report_json(facts, doctor::diagnose(facts));
}

// A file that cannot be read is an error of whoever starts the server, not of who asks it later.
Status expose_host() {
  if (!options.expose_host) return {};
  if (!options.host_facts.empty()) RETURN_IF_ERROR(host::read_facts(options.host_facts));
  options.server.host_report = report_on_host;
  return {};
}

double milliseconds(std::chrono::duration<double> time) { return 1000 * time.count(); }

std::string why_no_more(const engine::ModelFacts& facts) {
  using Limit = engine::ModelFacts::ContextLimit;
  switch (facts.context_limit) {
    case Limit::model:
      return "as many as the model was trained for";
    case Limit::option:
      return fmt::format("as --ctx says (the model was trained for {})", facts.trained_context);
    case Limit::memory:
      return fmt::format("as many as there is memory for (the model was trained for {})",
                         facts.trained_context);
  }
  return "";
}

void announce(const serve::Server& server, const engine::ModelFacts& facts,
              std::chrono::duration<double> listen, std::chrono::duration<double> total) {
  if (options.engine.model.empty())
    log::info("no model was named: serving the small bundled one, {}", facts.id);
  log::info("model {}: {}, {:.1f} M parameters, {} on {}", facts.id, facts.family,
            static_cast<double>(facts.num_parameters) / 1e6, facts.quantisation, facts.device);
  log::info("context: {} tokens a conversation, {}", facts.admissible_tokens, why_no_more(facts));
  log::info(
      "pool: {} tokens for all of {} answers at a time and for what is kept of ended ones, "
      "keys and values as {}",
      facts.pool_tokens, facts.max_sequences, facts.kv_type);
  log::info(
      "start: map {:.0f} ms, pack {:.0f} ms, warm {:.0f} ms, listen {:.0f} ms; ready after {:.0f} "
      "ms",
      milliseconds(facts.load_times.map), milliseconds(facts.load_times.pack),
      milliseconds(facts.load_times.warm), milliseconds(listen), milliseconds(total));
  log::info("ready: {}", server.url());
}

// `processes` may be null.
Result<std::unique_ptr<engine::Engine>> load(serve::Server& server, StopRequest& stop,
                                             parallel::MpiWorld* processes) {
  Progress progress;
  const auto observer = [&](const engine::LoadState& state) {
    server.set_loading(state);
    progress.show(phase_name(state.phase), state.fraction);
    return !stop.is_set();
  };
  if (processes == nullptr) return engine::Engine::create(options.engine, observer);
  ASSIGN_OR_RETURN(auto loaded, engine::load(options.engine, *processes, observer));
  // Whoever started mpirun can start it again; a server that is left over could only refuse.
  loaded->when_down = [&stop](const Error& why) { stop.set(why); };
  return engine::Engine::create(std::move(loaded), options.engine);
}

// Until it is told to stop. `processes` may be null.
Result<int> serve_until_stopped(StopRequest& stop, Clock::time_point start,
                                parallel::MpiWorld* processes) {
  RETURN_IF_ERROR(read_api_keys());
  RETURN_IF_ERROR(expose_host());
  options.server.drain_patience = std::chrono::seconds(options.drain_seconds);
  ASSIGN_OR_RETURN(const auto server, serve::Server::start(options.server));
  const std::chrono::duration<double> listen_time = Clock::now() - start;

  ASSIGN_OR_RETURN(const auto engine, load(*server, stop, processes));
  ASSIGN_OR_RETURN(chat::ChatTemplate chat_template, chat_template_of(*engine));
  server->set_engine(*engine, std::move(chat_template));
  announce(*server, engine->facts(), listen_time, Clock::now() - start);
  stop.wait();

  const std::optional<Error> failure = stop.failure();
  if (!failure) {
    log::info("stopping: running answers get {} s; two more signals end them at once",
              options.drain_seconds);
  }
  server->stop();
  if (const auto report = engine->stop()) print_timing(*report);
  if (failure) return *failure;
  log::info("stopped");
  return 0;
}

// Process 0 serves; the others do what it asks, until it ends.
Result<int> run_rank(StopRequest& stop, Clock::time_point start, parallel::MpiWorld& processes) {
  RETURN_IF_ERROR(engine::agree_on_options(processes, options.engine));
  if (processes.rank() == 0) return serve_until_stopped(stop, start, &processes);
  RETURN_IF_ERROR(engine::run_process(processes, options.engine));
  return 0;
}

Result<int> run() {
  const Clock::time_point start = Clock::now();
  StopRequest stop;
  const SignalWatcher watcher([&stop](int) { stop.set(); });
  options.sharing.apply(options.engine);
  ASSIGN_OR_RETURN(const auto processes, join_processes(options.parallel, options.engine.parallel));
  if (processes) {
    return run_among(*processes, [&] { return run_rank(stop, start, *processes); });
  }
  RETURN_IF_ERROR(decide_layout(options.parallel, options.engine));
  return serve_until_stopped(stop, start, nullptr);
}

}  // namespace

extern const Command serve_command;
const Command serve_command = {
    .name = "serve",
    .summary = "Serve a model over an OpenAI-compatible API and a web page",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
