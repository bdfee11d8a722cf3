#include "serve/completion_answer.h"

#include <utility>

#include "base/utf8.h"
#include "base/version.h"
#include "serve/chat_answer.h"
#include "serve/random.h"
#include "serve/sse.h"
#include "serve/unix_seconds.h"

namespace evener::serve {

CompletionAnswer::CompletionAnswer(ExchangePtr exchange, std::string model_id,
                                   CompletionRequest request)
    : exchange_(std::move(exchange)),
      model_id_(std::move(model_id)),
      request_(std::move(request)),
      id_(random_id("cmpl-")),
      created_seconds_(unix_seconds()),
      choices_(request_.prompts.size() * request_.generation.num_choices),
      usage_(choices_.size(), request_.generation.num_choices) {
  request_.prompts.clear();
  if (!request_.echo) return;
  for (size_t i = 0; i < choices_.size(); ++i) {
    choices_[i].text =
        utf8::replace_invalid(request_.prompt_texts[i / request_.generation.num_choices]);
  }
}

void CompletionAnswer::begin() {
  if (request_.generation.stream) exchange_->begin_stream(sse_head());
}

void CompletionAnswer::add_tokens(Choice& choice, const engine::Update& update) const {
  // Nothing predicts a prompt's first token; an engine may leave it out or give it without a score.
  for (size_t i = 0; i < update.prompt_tokens.size(); ++i) {
    choice.logprobs.add(update.prompt_tokens[i], i > 0);
  }
  if (request_.prompt_only) return;
  for (const engine::TokenOutput& token : update.tokens) {
    if (request_.num_top_logprobs) choice.logprobs.add(token, true);
    if (request_.generation.return_token_ids) choice.token_ids.push_back(token.chosen.id);
  }
  choice.text += update.text;
}

void CompletionAnswer::update(size_t choice, const engine::Update& update) {
  engine::Update counted{
      .id = update.id,
      .text = {},
      .tokens = {},
      .prompt_tokens = {},
      .finish = update.finish,
      .error = {},
      .num_prompt_tokens = update.num_prompt_tokens,
      .num_cached_tokens = update.num_cached_tokens,
      .match_end = update.match_end,
      .num_ahead = {},
      .num_prefilled_tokens = update.num_prefilled_tokens,
      .num_generated_tokens = request_.prompt_only ? 0 : update.num_generated_tokens,
      .timing = update.timing};
  usage_.count(choice, counted);
  Choice& parts = choices_[choice];
  add_tokens(parts, update);
  if (update.finish) {
    parts.finish_reason = request_.prompt_only ? "length" : finish_reason_name(*update.finish);
  }
  if (!request_.generation.stream) return;
  // The prompt's scores come with its first update: its text must not go before them.
  const bool waits = request_.echo && request_.num_top_logprobs && parts.logprobs.empty();
  if (update.finish || (!parts.text.empty() && !waits)) send(choice);
}

Json CompletionAnswer::choice_json(size_t index) {
  Choice& choice = choices_[index];
  Json out = {{"index", index},
              {"text", std::exchange(choice.text, {})},
              {"logprobs", choice.logprobs.empty() ? Json() : choice.logprobs.take()},
              {"finish_reason", choice.finish_reason}};
  if (!choice.token_ids.empty()) out["token_ids"] = std::exchange(choice.token_ids, Json::array());
  return out;
}

Json CompletionAnswer::envelope(Json choices) const {
  return {{"id", id_},
          {"object", "text_completion"},
          {"created", created_seconds_},
          {"model", model_id_},
          {"system_fingerprint", "evener-" + std::string(kVersion)},
          {"choices", std::move(choices)}};
}

void CompletionAnswer::send(size_t index) {
  const GenerationFields& fields = request_.generation;
  const bool last = !choices_[index].finish_reason.is_null();
  Json chunk = envelope(Json::array({choice_json(index)}));
  if (fields.include_usage) chunk["usage"] = fields.continuous_usage ? usage_.to_json() : Json();
  if (fields.timings_per_token || (last && fields.timings))
    chunk["timings"] = usage_.timings(index);
  exchange_->write(sse_event(chunk));
}

void CompletionAnswer::finish() {
  if (request_.generation.stream) {
    if (request_.generation.include_usage) {
      Json last = envelope(Json::array());
      last["usage"] = usage_.to_json();
      exchange_->write(sse_event(last));
    }
    exchange_->write(std::string(kSseDone));
    return exchange_->end_stream(AfterStream::keep_connection);
  }
  Json choices = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) choices.push_back(choice_json(i));
  Json out = envelope(std::move(choices));
  out["usage"] = usage_.to_json();
  if (request_.generation.timings) out["timings"] = usage_.timings(0);
  exchange_->respond(
      {.status = 200, .content_type = "application/json", .headers = {}, .body = dump(out)});
}

}  // namespace evener::serve
