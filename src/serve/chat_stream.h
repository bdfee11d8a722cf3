#pragma once

#include <string>
#include <vector>

#include "serve/answer_writer.h"
#include "serve/chat_answer.h"
#include "serve/exchange.h"

namespace evener::serve {

// A chat answer as server-sent events, in this order for each choice: the role as soon as it has a
// place in the engine, then reasoning and content as they come, then one empty delta with the
// finish reason; after the last choice the usage, if asked for, and [DONE]. If progress is asked
// for, the role comes with the first news, and until the first token each chunk with an empty delta
// says in "prompt_progress" how many wait before it ("ahead") or how much of the prompt has been
// read. Source: reference/serving/api.md 1.2; llama-server's return_progress.
class ChatStream : public AnswerWriter {
 public:
  ChatStream(ExchangePtr exchange, ChatAnswerHead head);

  const std::string& id() const override { return head_.id; }
  void begin() override;
  void update(size_t choice, const engine::Update& update) override;
  void finish() override;

 private:
  Json chunk(size_t choice, Json delta) const;
  void tell_roles();
  void tell_progress(size_t choice, const engine::Update& update);
  void send(size_t choice, Json event, bool last);

  ExchangePtr exchange_;
  ChatAnswerHead head_;
  std::vector<ChatChoice> choices_;
  Usage usage_;
  bool told_roles_ = false;
};

}  // namespace evener::serve
