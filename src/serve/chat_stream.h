#pragma once

#include <string>
#include <vector>

#include "serve/answer_writer.h"
#include "serve/chat_answer.h"
#include "serve/exchange.h"

namespace evener::serve {

// A chat answer as server-sent events, in this order for each choice: the role, then reasoning and
// content as they come, then one empty delta with the finish reason; after the last choice the
// usage, if asked for, and [DONE]. Source: reference/serving/api.md 1.2.
class ChatStream : public AnswerWriter {
 public:
  ChatStream(ExchangePtr exchange, ChatAnswerHead head);

  void begin() override;
  void update(size_t choice, const engine::Update& update) override;
  void finish() override;
  void fail(const ApiError& error) override;

 private:
  Json chunk(size_t choice, Json delta) const;
  void send(size_t choice, Json event, bool last);

  ExchangePtr exchange_;
  ChatAnswerHead head_;
  std::vector<ChatChoice> choices_;
  Usage usage_;
  bool begun_ = false;
};

}  // namespace evener::serve
