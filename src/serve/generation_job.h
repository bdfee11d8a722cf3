#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/generation.h"
#include "serve/answer_writer.h"
#include "serve/exchange.h"
#include "serve/route.h"

namespace evener::serve {

// One request's sequences on their way through the engine: queues them, brings their updates from
// the engine's thread to the exchange's strand, and cancels them all when one fails, when the
// client goes or asks for it, or when the server stops. Lives as long as updates or the exchange
// hold it.
class GenerationJob : public std::enable_shared_from_this<GenerationJob> {
 public:
  struct Parts {
    RouteCall call;
    std::vector<engine::GenerationRequest> requests;
    std::unique_ptr<AnswerWriter> writer;
  };

  // Any thread. A prompt that does not fit is refused here, before anything is queued.
  static void start(Parts parts);

  explicit GenerationJob(Parts parts);

  // Any thread: somebody who may has asked for its end.
  void abort_by_request();

 private:
  // Of the whole request: as far as the first of its sequences is. preparing: parsing, the chat
  // template, tokenizing.
  enum class State { preparing, queued, prefill, decode, ended };
  struct Sequence {
    std::optional<engine::SequenceId> id;
    std::optional<std::chrono::steady_clock::time_point> last_token;
    bool ended = false;
    size_t num_prompt_tokens = 0;
    // As its last update said.
    size_t num_cached_tokens = 0;
    size_t num_generated_tokens = 0;
    engine::Timing timing = {};
  };

  void submit_all();
  bool submit(size_t choice);
  void receive(size_t choice, const engine::Update& update);
  ApiError engine_error(const Error& error) const;
  void observe(Sequence& sequence, const engine::Update& update);
  void complete();
  void abort(AbortReason reason);
  void count_cancellation(std::string_view reason);
  void fail(const ApiError& error);
  void end(std::string_view how);
  void note(std::string_view how);

  Parts parts_;
  State state_ = State::preparing;
  std::vector<Sequence> sequences_;
  size_t num_ended_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace evener::serve
