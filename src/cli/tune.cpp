// evener tune: measures a model over one and several devices, and remembers the best way.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "cli/card_devices.h"
#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/long_work.h"
#include "cli/tuned_layout.h"
#include "device/cpu/cpu_node.h"
#include "device/create_device.h"
#include "device/device_name.h"
#include "engine/open_model.h"
#include "model/loader.h"
#include "tune/measure.h"
#include "tune/trial.h"
#include "tune/tuned.h"

namespace evener::cli {
namespace {

struct Options {
  std::string devices;
  engine::EngineOptions engine = {.max_sequences = 2, .prefix_cache = false};
  tune::MeasureOptions measure;
  tune::Request request;
  bool no_save = false;
  bool json = false;
};
Options options;

void add_options(CommandLine& line) {
  add_engine_options(line, options.engine, ModelArgument::positional);
  line.add(
      "--devices", options.devices,
      "devices to try, alone and together, as cpu:0,cpu:1; without: all cards of this machine, "
      "or its processors if it has none");
  line.add("--measure-prompt", options.measure.prompt_tokens, "tokens of the prompts that are read")
      .between(64, 100'000);
  line.add("--measure-answer", options.measure.answer_tokens, "tokens of the answers")
      .between(2, 10'000);
  line.add("--rounds", options.measure.num_rounds, "samples of each figure; the median counts")
      .between(1, 100);
  line.add("--prompt-tokens", options.request.prompt_tokens,
           "prompt of the request that decides which layout is best")
      .between(1, 1'000'000);
  line.add("--answer-tokens", options.request.answer_tokens, "its answer").between(1, 1'000'000);
  line.add("--no-save", options.no_save, "only show the table, remember nothing");
  line.add("--json", options.json, "the table as JSON");
}

engine::EngineOptions engine_options(const tune::Trial& trial) {
  engine::EngineOptions engine = options.engine;
  apply(trial, engine.parallel);
  engine.prefill_chunk = trial.chunk;
  engine.context_length =
      std::max(engine.context_length, options.measure.prompt_tokens + 2 * engine.prefill_chunk);
  return engine;
}

// What the loader or the ranks refuse is a line of the table, not the end.
Result<tune::Outcome> try_out(const tune::Trial& trial, LongWork& work, double done) {
  tune::Outcome outcome{.trial = trial, .speeds = {}, .failure = {}};
  const std::string what = tune::to_string(trial);
  const auto engine =
      engine::Engine::create(engine_options(trial), [&](const engine::LoadState& state) {
        return work.advance(fmt::format("{}: {}", what, phase_name(state.phase)), done, 1);
      });
  if (!engine) {
    if (engine.error().code == Code::cancelled) return engine.error();
    outcome.failure = to_string(engine.error());
    return outcome;
  }
  work.advance(what + ": measuring", done, 1);
  const auto speeds = tune::measure(**engine, options.measure, work.interrupted());
  if (speeds) {
    outcome.speeds = *speeds;
  } else if (speeds.error().code == Code::cancelled) {
    return speeds.error();
  } else {
    outcome.failure = to_string(speeds.error());
  }
  return outcome;
}

Result<std::vector<tune::Outcome>> measure_all(const tune::SearchSpace& space) {
  LongWork work;
  std::vector<tune::Outcome> outcomes;
  double done = 0;
  for (const tune::Wave wave : tune::kWaves) {
    const std::vector<tune::Trial> trials = tune::trials_of(wave, space, outcomes);
    for (size_t i = 0; i < trials.size(); ++i) {
      const double within = static_cast<double>(i) / static_cast<double>(trials.size());
      ASSIGN_OR_RETURN(tune::Outcome outcome,
                       try_out(trials[i], work, (done + within) / std::size(tune::kWaves)));
      outcomes.push_back(std::move(outcome));
    }
    ++done;
  }
  work.finish();
  return outcomes;
}

std::string figure(double value, bool is_best) {
  return fmt::format("{:>9.1f}{}", value, is_best ? '*' : ' ');
}

void print_table(const std::vector<tune::Outcome>& outcomes, const tune::Winners& winners) {
  fmt::print("{:<30} {:<20}    prefill    decode  2 streams    request\n", "layout", "devices");
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const tune::Outcome& outcome = outcomes[i];
    fmt::print("{:<30} {:<20} ", tune::to_string(outcome.trial),
               fmt::format("{}", fmt::join(outcome.trial.devices, " ")));
    if (!outcome.speeds) {
      fmt::print("{}\n", outcome.failure);
      continue;
    }
    const tune::Speeds& speeds = *outcome.speeds;
    fmt::print("{}{}{} {:>8.2f} s{}\n", figure(speeds.prefill, winners.prefill == i),
               figure(speeds.decode, winners.decode == i),
               figure(speeds.decode_streams, winners.decode_streams == i),
               options.request.seconds(speeds), winners.request == i ? '*' : ' ');
  }
  fmt::print(
      "\nTokens per second, medians of {}; * fastest. Request: {} tokens of prompt, {} of "
      "answer.\n",
      options.measure.num_rounds, options.request.prompt_tokens, options.request.answer_tokens);
}

std::string name_of(const tune::Trial& trial) {
  return fmt::format("{} on {}", tune::to_string(trial), fmt::join(trial.devices, ", "));
}

void print_verdict(const std::vector<tune::Outcome>& outcomes, const tune::Winners& winners) {
  const tune::Outcome& best = outcomes[*winners.request];
  const double seconds = options.request.seconds(*best.speeds);
  fmt::print("Best: {}.", name_of(best.trial));
  if (best.trial.devices.size() > 1 && winners.one_device) {
    const tune::Outcome& one = outcomes[*winners.one_device];
    fmt::print(" {:.2f} times as fast as {} alone.", options.request.seconds(*one.speeds) / seconds,
               one.trial.devices.front());
  } else if (best.trial.devices.size() == 1) {
    fmt::print("{}", outcomes.size() > 1
                         ? " A second device loses here."
                         : " There is no other device to try; parts of one can be named, "
                           "as --devices cpu:0[0],cpu:0[1].");
  }
  fmt::print("\n");
}

nlohmann::ordered_json json_of(const tune::Outcome& outcome) {
  nlohmann::ordered_json json = {{"layout", tune::to_string(outcome.trial)}};
  json.update(tune::json_of(outcome.trial));
  if (outcome.speeds) {
    json.update(tune::json_of(*outcome.speeds));
    json["request_s"] = options.request.seconds(*outcome.speeds);
  } else {
    json["failure"] = outcome.failure;
  }
  return json;
}

void print_json(const std::vector<tune::Outcome>& outcomes, const tune::Winners& winners) {
  nlohmann::ordered_json json = {{"prompt_tokens", options.request.prompt_tokens},
                                 {"answer_tokens", options.request.answer_tokens},
                                 {"rounds", options.measure.num_rounds}};
  for (const tune::Outcome& outcome : outcomes) json["layouts"].push_back(json_of(outcome));
  json["best"] = *winners.request;
  fmt::print("{}\n", json.dump(2));
}

Status keep(const tune::Outcome& best) {
  const std::filesystem::path folder = tuned_folder();
  if (folder.empty()) {
    return Error{.code = Code::not_found,
                 .doing = "keep the tuned layout",
                 .where = "HOME",
                 .why = "it is not set",
                 .remedy = "set XDG_STATE_HOME, or use --no-save"};
  }
  ASSIGN_OR_RETURN(const tune::Subject subject, tune::subject_of(options.engine.model));
  ASSIGN_OR_RETURN(
      const auto path,
      tune::save_tuned(
          folder, {.subject = subject,
                   .trial = best.trial,
                   .speeds = *best.speeds,
                   .request = options.request,
                   .when = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}));
  fmt::print(options.json ? stderr : stdout,
             "Kept in {}: serve, chat and run use it where no device is named.\n", path.string());
  return {};
}

Result<size_t> num_layers_of(const engine::EngineOptions& engine) {
  ASSIGN_OR_RETURN(const gguf::File file, engine::open_model_or_bundled(engine.model));
  ASSIGN_OR_RETURN(const model::Config config, model::read_config(file));
  return config.num_layers;
}

// Those that were named, or all of this machine: cards, beside which processors only hold up, or
// processors.
Result<std::vector<std::string>> devices() {
  std::vector<std::string> names;
  if (!options.devices.empty()) {
    names = device::split_device_list(options.devices);
    RETURN_IF_ERROR(device::check_devices(names));
    return names;
  }
  names = names_of_cards();
  if (!names.empty()) return names;
  ASSIGN_OR_RETURN(const auto nodes, device::cpu::read_cpu_nodes());
  for (const device::cpu::CpuNode& node : nodes) {
    if (node.cpus.empty()) continue;
    names.push_back(to_string(device::DeviceName{.numa_node = node.index}));
  }
  return names;
}

Result<int> run() {
  tune::SearchSpace space{.devices = {}, .num_layers = 0, .chunk = options.engine.prefill_chunk};
  ASSIGN_OR_RETURN(space.devices, devices());
  ASSIGN_OR_RETURN(space.num_layers, num_layers_of(options.engine));
  ASSIGN_OR_RETURN(const std::vector<tune::Outcome> outcomes, measure_all(space));
  const tune::Winners winners = tune::winners_of(outcomes, options.request);
  if (!winners.request) {
    return Error{.code = Code::unavailable,
                 .doing = "tune",
                 .where = options.engine.model.string(),
                 .why = "no layout could be measured: " + outcomes.front().failure,
                 .remedy = {}};
  }
  if (options.json) {
    print_json(outcomes, winners);
  } else {
    print_table(outcomes, winners);
    print_verdict(outcomes, winners);
  }
  if (!options.no_save) RETURN_IF_ERROR(keep(outcomes[*winners.request]));
  return 0;
}

}  // namespace

extern const Command tune_command;
const Command tune_command = {
    .name = "tune",
    .summary = "Measure a model over one and several devices and remember the best way",
    .add_options = add_options,
    .run = run,
};

}  // namespace evener::cli
