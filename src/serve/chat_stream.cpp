#include "serve/chat_stream.h"

#include <chrono>
#include <utility>

#include "base/version.h"
#include "serve/sse.h"

namespace evener::serve {
namespace {

const char* delta_name(chat::OutputEvent::Kind kind) {
  return kind == chat::OutputEvent::Kind::reasoning ? "reasoning_content" : "content";
}

}  // namespace

ChatStream::ChatStream(ExchangePtr exchange, ChatAnswerHead head)
    : exchange_(std::move(exchange)),
      head_(std::move(head)),
      usage_(head_.fields.num_choices, head_.fields.num_choices) {
  for (size_t i = 0; i < head_.fields.num_choices; ++i) choices_.emplace_back(head_);
}

Json ChatStream::chunk(size_t choice, Json delta) const {
  Json out = {{"id", head_.id},
              {"object", "chat.completion.chunk"},
              {"created", head_.created_seconds},
              {"model", head_.model},
              {"system_fingerprint", "evener-" + std::string(kVersion)}};
  out["choices"] = Json::array({{{"index", choice},
                                 {"delta", std::move(delta)},
                                 {"logprobs", nullptr},
                                 {"finish_reason", nullptr}}});
  if (head_.fields.include_usage) {
    out["usage"] = head_.fields.continuous_usage ? usage_.to_json() : Json();
  }
  return out;
}

void ChatStream::begin() { exchange_->begin_stream(sse_head()); }

void ChatStream::tell_roles() {
  if (std::exchange(told_roles_, true)) return;
  for (size_t choice = 0; choice < choices_.size(); ++choice) {
    Json first = chunk(choice, {{"role", "assistant"}});
    if (head_.fields.return_token_ids) first["prompt_token_ids"] = head_.prompt;
    exchange_->write(sse_event(first));
  }
}

void ChatStream::tell_progress(size_t choice, const engine::Update& update) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Json progress = {{"total", update.num_prompt_tokens},
                   {"cache", update.num_cached_tokens},
                   {"processed", update.num_prefilled_tokens},
                   {"time_ms", Milliseconds(update.timing.prefill).count()}};
  if (update.num_ahead) progress["ahead"] = *update.num_ahead;
  Json event = chunk(choice, Json::object());
  event["prompt_progress"] = std::move(progress);
  exchange_->write(sse_event(event));
}

void ChatStream::send(size_t choice, Json event, bool last) {
  if (Json logprobs = choices_[choice].take_logprobs(); !logprobs.is_null()) {
    event["choices"][0]["logprobs"] = std::move(logprobs);
  }
  if (Json ids = choices_[choice].take_token_ids(); !ids.is_null()) {
    event["choices"][0]["token_ids"] = std::move(ids);
  }
  if (head_.fields.timings_per_token || (last && head_.fields.timings)) {
    event["timings"] = usage_.timings(choice);
  }
  exchange_->write(sse_event(event));
}

void ChatStream::update(size_t choice, const engine::Update& update) {
  usage_.count(choice, update);
  if (!update.num_ahead || head_.progress) tell_roles();
  const bool waits = update.num_ahead || update.num_generated_tokens == 0;
  if (head_.progress && waits && !update.finish) tell_progress(choice, update);
  for (const chat::OutputEvent& event : choices_[choice].read(update, usage_)) {
    send(choice, chunk(choice, {{delta_name(event.kind), event.text}}), false);
  }
  if (!update.finish) return;
  Json last = chunk(choice, Json::object());
  last["choices"][0]["finish_reason"] = finish_reason_name(*update.finish);
  send(choice, std::move(last), true);
}

void ChatStream::finish() {
  if (head_.fields.include_usage) {
    Json last = chunk(0, Json::object());
    last["choices"] = Json::array();
    last["usage"] = usage_.to_json();
    exchange_->write(sse_event(last));
  }
  exchange_->write(std::string(kSseDone));
  exchange_->end_stream(AfterStream::keep_connection);
}

}  // namespace evener::serve
