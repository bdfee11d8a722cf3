#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serve/answer_writer.h"
#include "serve/completion_request.h"
#include "serve/exchange.h"
#include "serve/logprobs.h"
#include "serve/usage.h"

namespace evener::serve {

// An answer of POST /v1/completions, whole or streamed. Choice p * n + i is the i-th of prompt p.
// Source: reference/serving/api.md 2.
class CompletionAnswer : public AnswerWriter {
 public:
  // `request.prompts` are not needed any more.
  CompletionAnswer(ExchangePtr exchange, std::string model_id, CompletionRequest request);

  const std::string& id() const override { return id_; }
  void begin() override;
  void update(size_t choice, const engine::Update& update) override;
  void finish() override;

 private:
  struct Choice {
    std::string text;  // not sent yet
    CompletionLogprobs logprobs;
    Json token_ids = Json::array();
    Json finish_reason;
  };

  void add_tokens(Choice& choice, const engine::Update& update) const;
  Json envelope(Json choices) const;
  Json choice_json(size_t index);
  void send(size_t index);

  ExchangePtr exchange_;
  std::string model_id_;
  CompletionRequest request_;
  std::string id_;
  int64_t created_seconds_;
  std::vector<Choice> choices_;
  Usage usage_;
};

}  // namespace evener::serve
