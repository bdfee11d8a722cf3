#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

namespace evener::chat {

// What a chat template is rendered with. ordered_json throughout: the key order of tools and of
// tool-call arguments reaches the prompt exactly as the client sent it.
struct Conversation {
  // Array of messages in the OpenAI shape: {"role", "content", "tool_calls", "tool_call_id",
  // "reasoning_content", ...}.
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  nlohmann::ordered_json tools;  // array in the OpenAI shape, or null when there are none
  bool add_generation_prompt = true;
  // Further variables of the template by name (chat_template_kwargs: enable_thinking,
  // reasoning_effort, documents, ...). Object or null; must not name one of the variables above.
  nlohmann::ordered_json extra;
  // What strftime_now() prints, in UTC; empty: the system clock.
  std::optional<std::chrono::sys_seconds> now;
};

}  // namespace evener::chat
