#include "tune/measure.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace evener::tune {
namespace {

using engine::TokenId;

constexpr size_t kShortPrompt = 16;
constexpr std::chrono::milliseconds kLook{50};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Error interrupted_error() {
  return {
      .code = Code::cancelled, .doing = "measure", .where = {}, .why = "interrupted", .remedy = {}};
}

class Measurement {
 public:
  Measurement(engine::Engine& engine, const MeasureOptions& options,
              const std::atomic<bool>& interrupted)
      : engine_(engine), options_(options), interrupted_(interrupted) {}

  Result<Speeds> run() {
    RETURN_IF_ERROR(prefill_speed());  // memory, threads and clocks are awake after it
    Speeds speeds;
    ASSIGN_OR_RETURN(speeds.prefill, median_of(&Measurement::prefill_speed));
    ASSIGN_OR_RETURN(speeds.decode, median_of(&Measurement::decode_speed));
    ASSIGN_OR_RETURN(speeds.decode_streams, median_of(&Measurement::streams_speed));
    return speeds;
  }

 private:
  struct Answer {
    engine::SequenceId id = 0;
    std::future<engine::Update> last;
  };

  Result<double> median_of(Result<double> (Measurement::*sample)()) {
    std::vector<double> samples;
    for (size_t round = 0; round < options_.num_rounds; ++round) {
      ASSIGN_OR_RETURN(const double value, (this->*sample)());
      samples.push_back(value);
    }
    return median(std::move(samples));
  }

  Result<double> prefill_speed() {
    ASSIGN_OR_RETURN(Answer answer, ask(options_.prompt_tokens, 1));
    ASSIGN_OR_RETURN(const engine::Update last, wait(answer));
    return static_cast<double>(last.num_prompt_tokens) / last.timing.prefill.count();
  }

  Result<double> decode_speed() {
    ASSIGN_OR_RETURN(Answer answer, ask(kShortPrompt, options_.answer_tokens));
    ASSIGN_OR_RETURN(const engine::Update last, wait(answer));
    return decode_speed_of(last);
  }

  Result<double> streams_speed() {
    ASSIGN_OR_RETURN(Answer one, ask(kShortPrompt, options_.answer_tokens));
    ASSIGN_OR_RETURN(Answer other, ask(kShortPrompt, options_.answer_tokens));
    ASSIGN_OR_RETURN(const engine::Update last_of_one, wait(one));
    ASSIGN_OR_RETURN(const engine::Update last_of_other, wait(other));
    return decode_speed_of(last_of_one) + decode_speed_of(last_of_other);
  }

  // Behind the first token, which is prefill's.
  static double decode_speed_of(const engine::Update& last) {
    return static_cast<double>(last.num_generated_tokens - 1) / last.timing.decode.count();
  }

  Result<Answer> ask(size_t prompt_tokens, size_t answer_tokens) {
    engine::GenerationRequest request;
    std::uniform_int_distribution<TokenId> any(
        0, static_cast<TokenId>(engine_.facts().vocab_size - 1));
    for (size_t i = 0; i < prompt_tokens; ++i) request.prompt.push_back(any(random_));
    request.sampling.temperature = 0;
    request.max_new_tokens = answer_tokens;
    request.min_new_tokens = answer_tokens;
    request.ignore_eos = true;
    auto promise = std::make_shared<std::promise<engine::Update>>();
    std::future<engine::Update> last = promise->get_future();
    ASSIGN_OR_RETURN(const engine::SequenceId id,
                     engine_.submit(std::move(request), [promise](engine::Update update) {
                       if (update.finish) promise->set_value(std::move(update));
                     }));
    return Answer{.id = id, .last = std::move(last)};
  }

  Result<engine::Update> wait(Answer& answer) {
    while (answer.last.wait_for(kLook) != std::future_status::ready) {
      if (interrupted_) engine_.cancel(answer.id);
    }
    engine::Update last = answer.last.get();
    if (interrupted_) return interrupted_error();
    if (last.error) return *std::move(last.error);
    return last;
  }

  engine::Engine& engine_;
  const MeasureOptions& options_;
  const std::atomic<bool>& interrupted_;
  std::mt19937 random_;
};

}  // namespace

Result<Speeds> measure(engine::Engine& engine, const MeasureOptions& options,
                       const std::atomic<bool>& interrupted) {
  return Measurement(engine, options, interrupted).run();
}

}  // namespace evener::tune
