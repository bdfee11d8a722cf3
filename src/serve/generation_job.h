#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engine/generation.h"
#include "serve/answer_writer.h"
#include "serve/exchange.h"
#include "serve/metrics.h"
#include "serve/service.h"

namespace evener::serve {

// One request's sequences on their way through the engine: queues them, brings their updates from
// the engine's thread to the exchange's strand, and cancels them all when one fails, when the
// client goes or when the server stops. Lives as long as updates or the exchange hold it.
class GenerationJob : public std::enable_shared_from_this<GenerationJob> {
 public:
  struct Parts {
    ExchangePtr exchange;
    ServicePtr service;
    Metrics& metrics;  // outlives every exchange
    std::vector<engine::GenerationRequest> requests;
    std::unique_ptr<AnswerWriter> writer;
  };

  // Any thread. A prompt that does not fit is refused here, before anything is queued.
  static void start(Parts parts);

  explicit GenerationJob(Parts parts);

 private:
  enum class State { queued, prefill, decode, ended };
  struct Sequence {
    std::optional<engine::SequenceId> id;
    std::optional<std::chrono::steady_clock::time_point> last_token;
    bool ended = false;
  };

  void submit_all();
  bool submit(size_t choice);
  void receive(size_t choice, const engine::Update& update);
  void observe(Sequence& sequence, const engine::Update& update);
  void end_sequence(size_t choice, const engine::Update& update);
  void complete();
  void abort(AbortReason reason);
  void fail(const ApiError& error);
  void cancel_rest();

  Parts parts_;
  State state_ = State::queued;
  std::vector<Sequence> sequences_;
  size_t num_ended_ = 0;
  size_t num_prompt_tokens_ = 0;
  size_t num_generated_tokens_ = 0;
  engine::Timing timing_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace evener::serve
