#include "chat/adapt.h"

#include <string>

namespace evener::chat {
namespace {

using Json = nlohmann::ordered_json;

bool is_text_part(const Json& part) {
  return part.is_object() && part.contains("type") && part["type"] == "text" &&
         part.contains("text") && part["text"].is_string();
}

// A list of nothing but texts as one string; anything else is the template's to judge.
void join_parts(Json& content) {
  if (!content.is_array()) return;
  std::string text;
  for (const Json& part : content) {
    if (!is_text_part(part)) return;
    text += part["text"].get_ref<const std::string&>();
  }
  content = std::move(text);
}

void convert_arguments(Json& arguments, bool as_text) {
  if (as_text && arguments.is_object()) {
    arguments = arguments.dump(-1, ' ', false, Json::error_handler_t::replace);
  } else if (!as_text && arguments.is_string()) {
    const auto& text = arguments.get_ref<const std::string&>();
    Json parsed = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (parsed.is_object()) arguments = std::move(parsed);
  }
}

void adapt_tool_calls(Json& message, const TemplateCapabilities& capabilities) {
  for (Json& call : message["tool_calls"]) {
    if (!call.is_object()) continue;
    Json& function = call.contains("function") ? call["function"] : call;
    if (!function.is_object() || !function.contains("arguments")) continue;
    convert_arguments(function["arguments"], capabilities.arguments_as_text);
  }
  const bool empty =
      !message.contains("content") || message["content"].is_null() || message["content"] == "";
  if (!empty) return;
  if (capabilities.null_content) {
    message["content"] = nullptr;
  } else {
    message["content"] = "";
  }
}

}  // namespace

Conversation adapt(Conversation conversation, const TemplateCapabilities& capabilities) {
  if (!conversation.messages.is_array()) return conversation;
  for (Json& message : conversation.messages) {
    if (!message.is_object()) continue;
    if (!capabilities.content_parts && message.contains("content")) join_parts(message["content"]);
    if (!message.contains("tool_calls")) continue;
    const Json& calls = message["tool_calls"];
    if (calls.is_array() && !calls.empty()) adapt_tool_calls(message, capabilities);
  }
  return conversation;
}

}  // namespace evener::chat
