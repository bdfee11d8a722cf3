#include "chat/probe.h"

#include <optional>
#include <string>
#include <utility>

namespace evener::chat {
namespace {

using Json = nlohmann::ordered_json;

// Texts that no template writes on its own.
constexpr const char* kMark = "evener_probe_mark";
constexpr const char* kReply = "evener_probe_reply";

// Nested braces around a single element mean different things to gcc and clang, hence these.
Json list_of(Json element) {
  Json list = Json::array();
  list.push_back(std::move(element));
  return list;
}

Json object_with(const char* key, Json value) {
  Json object = Json::object();
  object[key] = std::move(value);
  return object;
}

Json user(const char* text) { return {{"role", "user"}, {"content", text}}; }
Json assistant(Json content) { return {{"role", "assistant"}, {"content", std::move(content)}}; }

class Probe {
 public:
  explicit Probe(const Render& render) : render_(render) {}

  TemplateCapabilities run() {
    find_content();
    find_tool_calls();
    found_.tools = shows(with_tools(list_of(user("Hi"))), kMark);
    find_tool_results();
    find_thinking();
    return found_;
  }

 private:
  static Conversation conversation(Json messages) {
    Conversation result;
    result.messages = std::move(messages);
    return result;
  }

  static Conversation with_tools(Json messages) {
    Conversation result = conversation(std::move(messages));
    const Json parameters = {{"type", "object"}, {"properties", Json::object()}};
    const Json function = {{"name", kMark}, {"description", "Probes"}, {"parameters", parameters}};
    const Json tool = {{"type", "function"}, {"function", function}};
    result.tools = list_of(tool);
    return result;
  }

  bool shows(const Conversation& conversation, const std::string& text) {
    const auto prompt = render_(conversation);
    return prompt && prompt->find(text) != std::string::npos;
  }

  void find_content() {
    const Json system = {{"role", "system"}, {"content", kMark}};
    found_.system_role = shows(conversation(Json::array({system, user("Hi")})), kMark);

    const Json part = {{"type", "text"}, {"text", kMark}};
    const Json message = {{"role", "user"}, {"content", list_of(part)}};
    const auto prompt = render_(conversation(list_of(message)));
    // A template that only knows strings may print the list as it is.
    found_.content_parts = prompt && prompt->find(kMark) != std::string::npos &&
                           prompt->find("'type'") == std::string::npos &&
                           prompt->find("\"type\"") == std::string::npos;

    Json answer = assistant("Hi");
    answer["reasoning_content"] = kMark;
    found_.reasoning = shows(conversation(Json::array({user("Hi"), answer})), kMark);
  }

  static Json calling(Json content, Json arguments) {
    Json message = assistant(std::move(content));
    const Json function = {{"name", kReply}, {"arguments", std::move(arguments)}};
    const Json call = {{"id", "call12345"}, {"type", "function"}, {"function", function}};
    message["tool_calls"] = list_of(call);
    return message;
  }

  static Conversation with_call(Json content, Json arguments) {
    return with_tools(Json::array({user("Hi"), calling(std::move(content), std::move(arguments))}));
  }

  // The first shape that shows both the call and its arguments as JSON is the one to use.
  void find_tool_calls() {
    const Json object = object_with(kMark, "value");
    const std::string text = object.dump();
    for (const bool as_text : {false, true}) {
      for (const bool null_content : {false, true}) {
        const Json content = null_content ? Json(nullptr) : Json("");
        const auto prompt = render_(with_call(content, as_text ? Json(text) : object));
        if (!prompt || prompt->find(kReply) == std::string::npos) continue;
        // Text given to a template that wants an object is printed with its quotes escaped.
        if (prompt->find(std::string(kMark) + "\\\"") != std::string::npos) continue;
        found_.tool_calls = true;
        found_.arguments_as_text = as_text;
        found_.null_content = null_content;
        return;
      }
    }
  }

  void find_tool_results() {
    const Json content = found_.null_content ? Json(nullptr) : Json("");
    const Json arguments = found_.arguments_as_text ? Json("{}") : Json::object();
    const Json result = {{"role", "tool"},
                         {"tool_call_id", "call12345"},
                         {"name", kReply},
                         {"content", "evener_probe_result"}};
    found_.tool_results =
        shows(with_tools(Json::array({user("Hi"), calling(content, arguments), result})),
              "evener_probe_result");
  }

  std::string prompt_with(std::optional<bool> enable_thinking) {
    Conversation asked = conversation(list_of(user("Hi")));
    if (enable_thinking) asked.extra = object_with("enable_thinking", *enable_thinking);
    auto prompt = render_(asked);
    return prompt ? *std::move(prompt) : std::string();
  }

  static bool ends_thinking_opened(const std::string& prompt) {
    const size_t end = prompt.find_last_not_of(" \t\n");
    return end != std::string::npos && prompt.substr(0, end + 1).ends_with("<think>");
  }

  void find_thinking() {
    const std::string unset = prompt_with(std::nullopt);
    const std::string disabled = prompt_with(false);
    found_.enable_thinking = disabled != prompt_with(true) || disabled != unset;
    found_.opens_thinking = ends_thinking_opened(unset);
    found_.opens_thinking_when_disabled = ends_thinking_opened(disabled);
  }

  const Render& render_;
  TemplateCapabilities found_;
};

}  // namespace

TemplateCapabilities probe(const Render& render) { return Probe(render).run(); }

}  // namespace evener::chat
