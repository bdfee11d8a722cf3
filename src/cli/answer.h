#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <string_view>

#include "base/error.h"
#include "engine/engine.h"

namespace evener::cli {

// One answer, waited for on the calling thread while the engine works on its own. interrupt() may
// be called from any thread and ends the answer within a step.
class Answer {
 public:
  explicit Answer(engine::Engine& engine) : engine_(engine) {}

  // Submits and hands each update to `on_update` until the last one, which is also returned.
  // Errors: those of Engine::submit and of a sequence that failed.
  Result<engine::Update> wait(engine::GenerationRequest request,
                              const std::function<void(const engine::Update&)>& on_update);

  // Whether there was an answer to interrupt.
  bool interrupt();

 private:
  engine::Update next();

  engine::Engine& engine_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<engine::Update> updates_;
  std::atomic<engine::SequenceId> running_{0};  // 0: none
};

// The tokens of a prompt text: special tokens by name, and the model's beginning in front if it
// wants one and the text has not got it.
std::vector<engine::TokenId> prompt_tokens(const tokenizer::Tokenizer& tokenizer,
                                           std::string_view text);

}  // namespace evener::cli
