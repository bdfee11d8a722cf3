#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "chat/chat_template.h"

namespace evener::chat {

using Json = nlohmann::ordered_json;

inline SpecialTexts special_texts() {
  SpecialTexts special;
  special.bos = "<s>";
  special.eos = "</s>";
  return special;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Conversation conversation_of(const Json& json) {
  Conversation conversation;
  conversation.messages = json.at("messages");
  if (json.contains("tools")) conversation.tools = json["tools"];
  if (json.contains("extra")) conversation.extra = json["extra"];
  conversation.add_generation_prompt = json.value("add_generation_prompt", true);
  return conversation;
}

// `source` rendered with `variables` and no messages.
inline Result<std::string> rendered(const std::string& source, const Json& variables = {},
                                    const TemplateLimits& limits = {}) {
  ASSIGN_OR_RETURN(const ChatTemplate parsed, ChatTemplate::parse(source, special_texts(), limits));
  Conversation conversation;
  conversation.extra = variables;
  conversation.now = std::chrono::sys_days(std::chrono::year(2026) / 3 / 5) +
                     std::chrono::hours(17) + std::chrono::minutes(4) + std::chrono::seconds(9);
  return parsed.render(conversation);
}

// The text, or "CODE where: why".
inline std::string shown(const Result<std::string>& result) {
  if (result) return *result;
  const Error& error = result.error();
  const char* code = error.code == Code::invalid_argument ? "refused"
                     : error.code == Code::limit_exceeded ? "limit"
                     : error.code == Code::unsupported    ? "unsupported"
                     : error.code == Code::corrupt        ? "syntax"
                                                          : "other";
  return std::string(code) + " " + error.where + ": " + error.why;
}

}  // namespace evener::chat
