#include "serve/chat_whole.h"

#include <utility>

#include "base/version.h"

namespace evener::serve {

ChatWhole::ChatWhole(ExchangePtr exchange, ChatAnswerHead head)
    : exchange_(std::move(exchange)),
      head_(std::move(head)),
      texts_(head_.fields.num_choices),
      usage_(head_.fields.num_choices, head_.fields.num_choices) {
  for (size_t i = 0; i < head_.fields.num_choices; ++i) choices_.emplace_back(head_);
}

void ChatWhole::update(size_t choice, const engine::Update& update) {
  usage_.count(choice, update);
  Texts& texts = texts_[choice];
  for (const chat::OutputEvent& event : choices_[choice].read(update, usage_)) {
    const bool reasoning = event.kind == chat::OutputEvent::Kind::reasoning;
    (reasoning ? texts.reasoning : texts.content) += event.text;
  }
  if (update.finish) texts.finish_reason = finish_reason_name(*update.finish);
}

Json ChatWhole::choice_json(size_t choice) {
  Texts& texts = texts_[choice];
  Json message = {
      {"role", "assistant"}, {"content", std::move(texts.content)}, {"refusal", nullptr}};
  if (!texts.reasoning.empty()) message["reasoning_content"] = std::move(texts.reasoning);
  Json out = {{"index", choice},
              {"message", std::move(message)},
              {"logprobs", choices_[choice].take_logprobs()},
              {"finish_reason", texts.finish_reason}};
  if (Json ids = choices_[choice].take_token_ids(); !ids.is_null())
    out["token_ids"] = std::move(ids);
  return out;
}

void ChatWhole::finish() {
  Json choices = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) choices.push_back(choice_json(i));
  Json out = {{"id", head_.id},
              {"object", "chat.completion"},
              {"created", head_.created_seconds},
              {"model", head_.model},
              {"system_fingerprint", "evener-" + std::string(kVersion)},
              {"choices", std::move(choices)},
              {"usage", usage_.to_json()}};
  if (head_.fields.return_token_ids) out["prompt_token_ids"] = head_.prompt;
  if (head_.fields.timings) out["timings"] = usage_.timings(0);
  exchange_->respond(
      {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(out)});
}

}  // namespace evener::serve
