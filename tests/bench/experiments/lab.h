#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/experiment.h"
#include "bench/notebook.h"
#include "bench/scripted_server.h"

namespace evener::bench {

// One that behaves but for what `change` does to it.
template <typename Change>
Script script_with(Change change) {
  Script script;
  change(script);
  return script;
}

// A scripted server, the real client and prober before it, and what an experiment recorded of it.
class Lab {
 public:
  explicit Lab(Script script = {}) : scripted(std::move(script)) {
    options.num_rounds = 1;
    options.num_tokens_out = 24;
    options.idle = std::chrono::milliseconds(0);
    Target target;
    target.url = scripted.url();
    auto made = Client::create(target, notes.start());
    EXPECT_TRUE(made.has_value());
    client = *std::move(made);
    auto probed = Server::probe(*client);
    EXPECT_TRUE(probed.has_value()) << (probed ? "" : to_string(probed.error()));
    server = *std::move(probed);
    prompts = std::make_unique<Prompts>(*client, *server, 1);
    scripted_before = scripted.bodies().size();
  }

  Bench bench() {
    return {.client = client.get(),
            .server = server.get(),
            .prompts = prompts.get(),
            .recorder = notes,
            .options = options,
            .stop = stop,
            .progress = [](const std::string&, double) {}};
  }

  Status run(const Experiment& experiment) {
    Bench all = bench();
    return experiment.run(all);
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const CellRecord& cell : notes.cells) keys.push_back(cell.key);
    return keys;
  }
  bool found(Fault fault) const {
    return std::ranges::any_of(notes.findings,
                               [fault](const Finding& found) { return found.fault == fault; });
  }
  std::vector<double> values(const std::string& key) const {
    std::vector<double> values;
    for (const Value& value : notes.values) {
      if (value.key == key) values.push_back(value.value);
    }
    return values;
  }
  // Labels of the requests that count, in order of their end.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const RequestRecord& request : notes.requests) {
      if (!request.excluded) labels.push_back(request.label);
    }
    return labels;
  }

  ScriptedServer scripted;
  Notebook notes;
  ExperimentOptions options;
  std::atomic<bool> stop{false};
  std::unique_ptr<Client> client;
  std::unique_ptr<Server> server;
  std::unique_ptr<Prompts> prompts;
  size_t scripted_before = 0;  // bodies that the probe sent
};

}  // namespace evener::bench
