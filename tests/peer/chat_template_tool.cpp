// Renders chat templates for the peer tests: JSON lines {"template", "special", "conversation"} on
// stdin, one JSON line {"text"} or {"error", "code"} each on stdout.

#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string>

#include "chat/chat_template.h"

namespace evener::chat {
namespace {

using Json = nlohmann::ordered_json;

Conversation conversation_of(const Json& json) {
  Conversation conversation;
  conversation.messages = json.at("messages");
  if (json.contains("tools")) conversation.tools = json.at("tools");
  conversation.add_generation_prompt = json.value("add_generation_prompt", true);
  if (json.contains("extra")) conversation.extra = json.at("extra");
  if (json.contains("now")) {
    conversation.now =
        std::chrono::sys_seconds(std::chrono::seconds(json.at("now").get<int64_t>()));
  }
  return conversation;
}

Json answer_to(const Json& request) {
  SpecialTexts special;
  if (request.contains("special")) {
    special.bos = request["special"].value("bos", "");
    special.eos = request["special"].value("eos", "");
  }
  static std::map<std::string, Result<ChatTemplate>> parsed;
  const auto key = request.at("template").get<std::string>() + special.bos + special.eos;
  auto found = parsed.find(key);
  if (found == parsed.end()) {
    found = parsed.emplace(key, ChatTemplate::parse(request.at("template"), special)).first;
  }
  const auto& chat_template = found->second;
  if (!chat_template) return {{"error", chat_template.error().why}, {"parse", true}};
  const Conversation conversation = conversation_of(request.at("conversation"));
  const auto text = request.value("adapt", false) ? chat_template->render(conversation)
                                                  : chat_template->render_as_given(conversation);
  if (!text) return {{"error", text.error().why}, {"where", text.error().where}};
  return {{"text", *text}};
}

int run() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object()) {
      fmt::print(stderr, "template_tool: a line is not a JSON object\n");
      return 1;
    }
    fmt::print("{}\n", answer_to(request).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return 0;
}

}  // namespace
}  // namespace evener::chat

int main() {
  try {
    return evener::chat::run();
  } catch (const nlohmann::json::exception& exception) {
    fmt::print(stderr, "template_tool: {}\n", exception.what());
    return 1;
  }
}
