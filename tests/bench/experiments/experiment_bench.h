#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/experiment.h"
#include "bench/notebook.h"
#include "bench/scripted_server.h"

namespace evener::bench {

// A notebook for what comes from several threads.
class SharedNotebook final : public Recorder {
 public:
  Nanoseconds now() const override { return book.now(); }
  Clock::time_point start() const override { return book.start(); }
  void request(RequestRecord record) override {
    const std::lock_guard lock(mutex_);
    book.request(std::move(record));
  }
  void value(Value value) override {
    const std::lock_guard lock(mutex_);
    book.value(std::move(value));
  }
  void finding(Finding finding) override {
    const std::lock_guard lock(mutex_);
    book.finding(std::move(finding));
  }
  void telemetry(telemetry::Sample sample) override { book.telemetry(std::move(sample)); }
  Status end_cell(CellRecord cell) override {
    const std::lock_guard lock(mutex_);
    return book.end_cell(std::move(cell));
  }

  Notebook book;  // to be read when nothing runs

 private:
  std::mutex mutex_;
};

// A script that behaves well but for what `change` sets.
inline Script scripted(const std::function<void(Script&)>& change) {
  Script script;
  change(script);
  return script;
}

// All that an experiment is given, against a server that follows a script.
class ExperimentBench {
 public:
  explicit ExperimentBench(Script script = {}) : server_(std::move(script)) {
    Target target;
    target.url = server_.url();
    auto client = Client::create(target, notebook_.start());
    EXPECT_TRUE(client) << to_string(client.error());
    client_ = *std::move(client);
    auto probed = Server::probe(*client_);
    EXPECT_TRUE(probed) << to_string(probed.error());
    probed_ = *std::move(probed);
    prompts_ = std::make_unique<Prompts>(*client_, *probed_, 1);
    options.num_rounds = 1;
    options.num_tokens_out = 32;
    options.idle = std::chrono::milliseconds(0);
  }

  Status run(const Experiment& experiment) {
    Bench bench{.client = client_.get(),
                .server = probed_.get(),
                .prompts = prompts_.get(),
                .recorder = notebook_,
                .options = options,
                .stop = stop,
                .progress = [this](const std::string& what, double) {
                  if (on_progress) on_progress(what);
                }};
    return experiment.run(bench);
  }

  ScriptedServer& server() { return server_; }
  const Notebook& book() const { return notebook_.book; }

  // Values of a key by cell.
  std::map<std::string, std::vector<double>> values(const std::string& key) const {
    std::map<std::string, std::vector<double>> found;
    for (const Value& value : book().values) {
      if (value.key == key) found[value.cell].push_back(value.value);
    }
    return found;
  }
  std::set<std::string> cells() const {
    std::set<std::string> keys;
    for (const CellRecord& cell : book().cells) keys.insert(cell.key);
    return keys;
  }
  // Details of the findings of a fault, a line each.
  std::string findings(Fault fault) const {
    std::string lines;
    for (const Finding& finding : book().findings) {
      if (finding.fault == fault) lines += finding.detail + "\n";
    }
    return lines;
  }

  ExperimentOptions options;
  std::atomic<bool> stop = false;
  std::function<void(const std::string& what)> on_progress;

 private:
  ScriptedServer server_;
  SharedNotebook notebook_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<Server> probed_;
  std::unique_ptr<Prompts> prompts_;
};

}  // namespace evener::bench
