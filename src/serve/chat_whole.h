#pragma once

#include <string>
#include <vector>

#include "serve/answer_writer.h"
#include "serve/chat_answer.h"
#include "serve/exchange.h"

namespace evener::serve {

// A chat answer as one JSON object. Source: reference/serving/api.md 1.
class ChatWhole : public AnswerWriter {
 public:
  ChatWhole(ExchangePtr exchange, ChatAnswerHead head);

  const std::string& id() const override { return head_.id; }
  void begin() override {}
  void update(size_t choice, const engine::Update& update) override;
  void finish() override;

 private:
  struct Texts {
    std::string content;
    std::string reasoning;
    const char* finish_reason = "stop";
  };
  Json choice_json(size_t choice);

  ExchangePtr exchange_;
  ChatAnswerHead head_;
  std::vector<ChatChoice> choices_;
  std::vector<Texts> texts_;
  Usage usage_;
};

}  // namespace evener::serve
