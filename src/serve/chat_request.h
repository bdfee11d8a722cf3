#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "chat/chat_template.h"
#include "chat/conversation.h"
#include "serve/api_error.h"
#include "serve/generation_fields.h"
#include "serve/json.h"

namespace evener::serve {

// A checked body of POST /v1/chat/completions.
struct ChatRequest {
  GenerationFields generation;
  chat::Conversation conversation;
  std::optional<size_t> num_top_logprobs;  // set: logprobs were asked for
  bool return_progress = false;            // a stream tells how far queue and prompt are
  bool continue_final_message = false;     // the answer goes on where the last message ends
};

// Fields that are unknown are ignored, null is absent, and what would change the answer but cannot
// be served is refused by name. Source: reference/serving/api.md 1.1.
std::expected<ChatRequest, ApiError> parse_chat_request(const Json& body,
                                                        const chat::ChatTemplate& chat_template,
                                                        size_t vocab_size);

// messages, tools, tool_choice and the template's variables alone: /tokenize and /apply-template.
chat::Conversation read_conversation(Fields& fields, const chat::ChatTemplate& chat_template);

// The prompt of a conversation. Errors: as ChatTemplate::render.
std::expected<std::string, ApiError> render_prompt(const chat::Conversation& conversation,
                                                   bool continue_final_message,
                                                   const chat::ChatTemplate& chat_template);

}  // namespace evener::serve
