#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chat/output_parser.h"
#include "engine/generation.h"
#include "serve/generation_fields.h"
#include "serve/json.h"
#include "serve/usage.h"

namespace evener::serve {

// What all parts of one chat answer share.
struct ChatAnswerHead {
  std::string id;     // "chatcmpl-..."
  std::string model;  // the served model's id
  int64_t created_seconds = 0;
  GenerationFields fields;
  bool logprobs = false;
  bool progress = false;  // a stream tells how far queue and prompt are
  chat::OutputParserOptions parser;
  std::vector<engine::TokenId> prompt;  // only if return_token_ids
};

// One choice's stream, sorted into reasoning and content.
class ChatChoice {
 public:
  explicit ChatChoice(const ChatAnswerHead& head)
      : keeps_logprobs_(head.logprobs),
        keeps_ids_(head.fields.return_token_ids),
        parser_(chat::make_output_parser(head.parser)) {}

  // The update's text as events; the last update's come complete. Counts reasoning tokens.
  std::vector<chat::OutputEvent> read(const engine::Update& update, Usage& usage);

  // Entries of logprobs.content and token ids since the last time; null if there are none.
  Json take_logprobs();
  Json take_token_ids();

 private:
  bool keeps_logprobs_;
  bool keeps_ids_;
  bool reasoning_ = false;  // the last event was
  std::unique_ptr<chat::OutputParser> parser_;
  Json logprobs_ = Json::array();
  Json token_ids_ = Json::array();
};

// "stop" or "length"; the others never reach a writer.
const char* finish_reason_name(engine::FinishReason reason);

}  // namespace evener::serve
