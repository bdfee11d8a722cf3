#include "serve/chat_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace evener::serve {
namespace {

constexpr size_t kMaxMessages = 10'000;
constexpr size_t kMaxParts = 1'000;
constexpr size_t kMaxCalls = 128;

struct Place {
  std::string path;  // "messages[2]"
  Fields& faults;

  void invalid(std::string_view field, std::string_view message) const {
    const std::string param = field.empty() ? path : path + "." + std::string(field);
    faults.fail(invalid_value(param, fmt::format("{} {}", param, message)));
  }
  void unsupported(std::string_view field, std::string_view message) const {
    const std::string param = path + "." + std::string(field);
    faults.fail(not_supported(param, fmt::format("{}: {}", param, message)));
  }
};

// The text of one part; nothing for a refusal, which is shown to people and not to the model.
std::optional<std::string> text_of_part(const Json& part, const Place& place) {
  Fields fields(part);
  const auto type = fields.string("type", kNameBytes);
  if (!type) {
    place.invalid("type", "must be a string");
    return std::nullopt;
  }
  if (*type == "refusal") return std::nullopt;
  if (*type == "text" || *type == "input_text" || *type == "output_text") {
    auto text = fields.string("text", kTextBytes);
    if (!text) place.invalid("text", "must be a string");
    return text;
  }
  for (const std::string_view medium :
       {"image_url", "input_image", "input_audio", "video_url", "file"}) {
    if (*type == medium) {
      place.unsupported("type", fmt::format("this model reads text only, not {}", medium));
      return std::nullopt;
    }
  }
  place.invalid("type", "must be text or refusal");
  return std::nullopt;
}

Json joined(const std::vector<std::string>& texts, bool as_parts) {
  if (!as_parts) return fmt::format("{}", fmt::join(texts, "\n"));
  Json parts = Json::array();
  for (const auto& text : texts) parts.push_back({{"type", "text"}, {"text", text}});
  return parts;
}

// A string, or null where `may_be_null`, or a list of parts.
Json read_content(const Json& message, const Place& place, bool may_be_null, bool as_parts) {
  const Json* content = Fields(message).find("content");
  if (!content) {
    if (!may_be_null) place.invalid("content", "must be a string or a list of parts");
    return "";
  }
  if (content->is_string()) return *content;
  if (!content->is_array() || content->size() > kMaxParts) {
    place.invalid("content",
                  fmt::format("must be a string or a list of up to {} parts", kMaxParts));
    return "";
  }
  std::vector<std::string> texts;
  for (size_t i = 0; i < content->size(); ++i) {
    const Place part{.path = fmt::format("{}.content[{}]", place.path, i), .faults = place.faults};
    if (auto text = text_of_part((*content)[i], part)) texts.push_back(*std::move(text));
  }
  return joined(texts, as_parts && texts.size() > 1);
}

// Clients send arguments as JSON text; templates print them with tojson and so want the object.
Json parsed_arguments(const Json& arguments) {
  if (!arguments.is_string()) return arguments;
  auto parsed = parse_object(arguments.get_ref<const std::string&>());
  return parsed ? *std::move(parsed) : arguments;
}

Json read_tool_call(const Json& call, const Place& place) {
  Fields fields(call);
  const Json* function = fields.find("function");
  if (!function || !function->is_object()) {
    place.invalid("function", "must be an object");
    return Json::object();
  }
  Fields inner(*function);
  const auto name = inner.string("name", kNameBytes);
  if (!name) place.invalid("function.name", "must be a string");
  const Json* arguments = inner.find("arguments");
  if (arguments && !arguments->is_string() && !arguments->is_object()) {
    place.invalid("function.arguments", "must be a string of JSON");
    return Json::object();
  }
  Json out = call;
  out["function"]["arguments"] = arguments ? parsed_arguments(*arguments) : Json::object();
  return out;
}

// True if there is at least one call.
bool read_tool_calls(const Json& message, const Place& place, Json& out) {
  const Json* calls = Fields(message).find("tool_calls");
  if (!calls) {
    out.erase("tool_calls");
    return false;
  }
  if (!calls->is_array() || calls->size() > kMaxCalls) {
    place.invalid("tool_calls", fmt::format("must be a list of up to {} calls", kMaxCalls));
    return false;
  }
  if (calls->empty()) {
    out.erase("tool_calls");
    return false;
  }
  Json list = Json::array();
  for (size_t i = 0; i < calls->size(); ++i) {
    list.push_back(read_tool_call(
        (*calls)[i],
        {.path = fmt::format("{}.tool_calls[{}]", place.path, i), .faults = place.faults}));
  }
  out["tool_calls"] = std::move(list);
  return true;
}

void read_reasoning(const Json& message, const Place& place, Json& out) {
  out.erase("reasoning");
  out.erase("reasoning_content");
  for (const char* name : {"reasoning", "reasoning_content"}) {
    const Json* reasoning = Fields(message).find(name);
    if (!reasoning) continue;
    if (!reasoning->is_string()) return place.invalid(name, "must be a string");
    out["reasoning_content"] = *reasoning;
  }
}

Json read_message(const Json& message, const Place& place,
                  const chat::ChatTemplate& chat_template) {
  if (!message.is_object()) {
    place.invalid("", "must be an object");
    return Json::object();
  }
  const auto role = Fields(message).string("role", kNameBytes).value_or("");
  constexpr std::array<std::string_view, 5> kRoles = {"system", "developer", "user", "assistant",
                                                      "tool"};
  if (std::ranges::find(kRoles, role) == kRoles.end()) {
    place.invalid("role", fmt::format("must be one of {}", fmt::join(kRoles, ", ")));
    return Json::object();
  }
  const chat::TemplateCapabilities& can = chat_template.capabilities();
  Json out = message;
  bool calls = false;
  if (role == "assistant") {
    calls = read_tool_calls(message, place, out);
    if (calls && !can.tool_calls) {
      place.unsupported("tool_calls", "this model's chat template has no place for tool calls");
    }
    read_reasoning(message, place, out);
  }
  if (role == "tool" && !can.tool_results) {
    place.unsupported("role", "this model's chat template has no place for tool results");
  }
  const bool knows_developer = chat_template.source().find("developer") != std::string::npos;
  if (role == "developer" && !knows_developer) out["role"] = "system";
  const bool may_be_null = calls || (role == "assistant" && out.contains("reasoning_content"));
  out["content"] = read_content(message, place, may_be_null, can.content_parts);
  return out;
}

// Models trained without a system role get its text at the head of the first question.
void fold_system_into_user(Json& messages) {
  std::string system;
  Json rest = Json::array();
  for (Json& message : messages) {
    if (message["role"] == "system" && message["content"].is_string()) {
      system += message["content"].get<std::string>() + "\n\n";
    } else {
      rest.push_back(std::move(message));
    }
  }
  const auto user = std::ranges::find_if(
      rest, [](const Json& m) { return m["role"] == "user" && m["content"].is_string(); });
  if (user != rest.end()) {
    (*user)["content"] = system + (*user)["content"].get<std::string>();
  } else {
    rest.insert(rest.begin(), Json{{"role", "user"}, {"content", system}});
  }
  messages = std::move(rest);
}

}  // namespace

Json read_messages(Fields& fields, const chat::ChatTemplate& chat_template) {
  const Json* list = fields.array("messages", kMaxMessages);
  if (!list || list->empty()) {
    fields.invalid("messages", "must be a list of at least one message");
    return Json::array();
  }
  Json out = Json::array();
  bool has_system = false;
  for (size_t i = 0; i < list->size() && !fields.error(); ++i) {
    out.push_back(read_message(
        (*list)[i], {.path = fmt::format("messages[{}]", i), .faults = fields}, chat_template));
    has_system |= Fields(out.back()).choice("role", {"system"}).has_value();
  }
  if (!fields.error() && has_system && !chat_template.capabilities().system_role) {
    fold_system_into_user(out);
  }
  return out;
}

}  // namespace evener::serve
