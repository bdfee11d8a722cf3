#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/generation.h"

namespace evener::engine {

// All that one sequence's owner was told.
struct Answer {
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<TokenOutput> outputs;
  std::vector<TokenOutput> prompt_outputs;
  std::optional<FinishReason> finish;
  std::optional<Error> error;
  size_t num_updates = 0;
  Update last;  // counters and timing
};

// The owner of one sequence, for tests: collects its updates and waits for the last.
class Listener {
 public:
  // Called on the engine's thread with each update, after it was collected.
  using Watcher = std::function<void(const Update&)>;

  explicit Listener(Watcher watcher = {}) : shared_(std::make_shared<Shared>()) {
    shared_->watcher = std::move(watcher);
  }

  Sink sink() {
    return
        [token = SinkToken(shared_)](Update update) { token.shared->receive(std::move(update)); };
  }

  // Returns when the last update has come and the sink is gone.
  const Answer& wait() {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [this] { return shared_->sink_gone; });
    return shared_->answer;
  }

  void wait_for_tokens(size_t count) {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(
        lock, [&] { return shared_->answer.tokens.size() >= count || shared_->sink_gone; });
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    Answer answer;
    bool sink_gone = false;
    Watcher watcher;

    void receive(Update update) {
      {
        const std::lock_guard lock(mutex);
        collect(update);
      }
      changed.notify_all();
      if (watcher) watcher(update);
    }

    void collect(const Update& update) {
      answer.text += update.text;
      for (const TokenOutput& output : update.tokens) {
        answer.tokens.push_back(output.chosen.id);
        answer.outputs.push_back(output);
      }
      for (const TokenOutput& output : update.prompt_tokens)
        answer.prompt_outputs.push_back(output);
      answer.finish = update.finish;
      answer.error = update.error;
      ++answer.num_updates;
      answer.last = update;
    }
  };

  // Lives in the sink and tells when that is destroyed.
  struct SinkToken {
    explicit SinkToken(std::shared_ptr<Shared> s) : shared(std::move(s)) {}
    SinkToken(SinkToken&&) = default;
    SinkToken& operator=(SinkToken&&) = delete;
    ~SinkToken() {
      if (!shared) return;
      const std::lock_guard lock(shared->mutex);
      shared->sink_gone = true;
      shared->changed.notify_all();
    }
    std::shared_ptr<Shared> shared;
  };

  std::shared_ptr<Shared> shared_;
};

}  // namespace evener::engine
