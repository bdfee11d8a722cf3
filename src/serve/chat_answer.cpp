#include "serve/chat_answer.h"

#include <iterator>
#include <utility>

#include "serve/logprobs.h"

namespace evener::serve {

std::vector<chat::OutputEvent> ChatChoice::read(const engine::Update& update, Usage& usage) {
  for (const engine::TokenOutput& token : update.tokens) {
    if (keeps_logprobs_) logprobs_.push_back(chat_logprob(token));
    if (keeps_ids_) token_ids_.push_back(token.chosen.id);
  }
  std::vector<chat::OutputEvent> events;
  if (!update.text.empty()) events = parser_->push(update.text);
  if (update.finish) std::ranges::move(parser_->finish(), std::back_inserter(events));
  if (!events.empty()) reasoning_ = events.back().kind == chat::OutputEvent::Kind::reasoning;
  if (reasoning_) usage.count_reasoning(update.tokens.size());
  return events;
}

Json ChatChoice::take_logprobs() {
  if (logprobs_.empty()) return {};
  return {{"content", std::exchange(logprobs_, Json::array())}, {"refusal", nullptr}};
}

Json ChatChoice::take_token_ids() {
  return token_ids_.empty() ? Json() : std::exchange(token_ids_, Json::array());
}

const char* finish_reason_name(engine::FinishReason reason) {
  return reason == engine::FinishReason::length ? "length" : "stop";
}

}  // namespace evener::serve
