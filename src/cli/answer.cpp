#include "cli/answer.h"

#include <optional>
#include <utility>
#include <vector>

namespace evener::cli {

Result<engine::Update> Answer::wait(engine::GenerationRequest request,
                                    const std::function<void(const engine::Update&)>& on_update) {
  ASSIGN_OR_RETURN(const engine::SequenceId id,
                   engine_.submit(std::move(request), [this](engine::Update update) {
                     const std::lock_guard lock(mutex_);
                     updates_.push(std::move(update));
                     arrived_.notify_one();
                   }));
  running_ = id;
  for (;;) {
    engine::Update update = next();
    on_update(update);
    if (!update.finish) continue;
    running_ = 0;
    if (update.error) return *std::move(update.error);
    return update;
  }
}

bool Answer::interrupt() {
  const engine::SequenceId id = running_;
  if (id != 0) engine_.cancel(id);
  return id != 0;
}

engine::Update Answer::next() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !updates_.empty(); });
  engine::Update update = std::move(updates_.front());
  updates_.pop();
  return update;
}

std::vector<engine::TokenId> prompt_tokens(const tokenizer::Tokenizer& tokenizer,
                                           std::string_view text) {
  std::vector<engine::TokenId> tokens =
      tokenizer.encode(text, {.special = tokenizer::SpecialTokens::parse, .add_special = false});
  const std::optional<engine::TokenId> bos = tokenizer.adds_bos() ? tokenizer.bos() : std::nullopt;
  if (bos && (tokens.empty() || tokens.front() != *bos)) tokens.insert(tokens.begin(), *bos);
  return tokens;
}

}  // namespace evener::cli
