#include "serve/chat_request.h"

#include <fmt/format.h>

#include <utility>

#include "serve/chat_messages.h"

namespace evener::serve {
namespace {

constexpr size_t kMaxTools = 1024;

void read_tools(Fields& fields, const chat::ChatTemplate& chat_template, Json& out) {
  const Json* tools = fields.array("tools", kMaxTools);
  if (!tools || tools->empty()) return;
  if (!chat_template.capabilities().tools) {
    return fields.fail(
        not_supported("tools", "tools: this model's chat template has no place for tools"));
  }
  for (size_t i = 0; i < tools->size(); ++i) {
    const std::string place = fmt::format("tools[{}]", i);
    Fields tool((*tools)[i], place + ".");
    if (tool.string("type", kNameBytes).value_or("") != "function") {
      return fields.fail(not_supported(
          place + ".type", place + ".type: only tools of type function can be offered"));
    }
    const Json* function = tool.object("function");
    if (!function || !Fields(*function).string("name", kNameBytes)) {
      return fields.invalid(place + ".function.name", "must be a string");
    }
  }
  out = *tools;
}

// "none" hides the tools: the model cannot call what it has not been shown.
void read_tool_choice(Fields& fields, Json& tools) {
  const Json* choice = fields.find("tool_choice");
  if (!choice) return;
  if (choice->is_string() && *choice == "none") tools = Json();
  if (choice->is_string() && (*choice == "none" || *choice == "auto")) return;
  if (choice->is_object() || (choice->is_string() && *choice == "required")) {
    return fields.fail(not_supported(
        "tool_choice", "tool_choice: calls cannot be forced yet, only auto and none are served"));
  }
  fields.invalid("tool_choice", "must be none, auto, required or an object naming a function");
}

void read_response_format(Fields& fields) {
  const Json* format = fields.object("response_format");
  if (!format) return;
  Fields inner(*format, "response_format.");
  const auto type = inner.choice("type", {"text", "json_object", "json_schema"});
  if (!type) {
    return fields.invalid("response_format.type", "must be one of text, json_object, json_schema");
  }
  if (*type != "text") {
    fields.fail(not_supported(
        "response_format", fmt::format("response_format: {} is not served yet, only text", *type)));
  }
}

// Thinking is switched in three dialects; all end as the template's variable.
void read_thinking(Fields& fields, Json& extra) {
  const auto effort =
      fields.choice("reasoning_effort", {"none", "minimal", "low", "medium", "high", "xhigh"});
  if (effort) {
    extra["reasoning_effort"] = *effort;
    extra["enable_thinking"] = *effort != "none";
  }
  if (const Json* thinking = fields.object("thinking")) {
    Fields inner(*thinking, "thinking.");
    const auto type = inner.choice("type", {"enabled", "disabled", "adaptive"});
    if (inner.error()) fields.fail(*inner.error());
    if (type) extra["enable_thinking"] = *type != "disabled";
    if (inner.has("budget_tokens")) {
      fields.fail(not_supported("thinking.budget_tokens",
                                "thinking.budget_tokens: thinking cannot be bounded yet"));
    }
  }
  if (fields.has("thinking_budget_tokens")) {
    fields.fail(not_supported("thinking_budget_tokens",
                              "thinking_budget_tokens: thinking cannot be bounded yet"));
  }
}

void read_template_variables(Fields& fields, Json& extra) {
  const Json* variables = fields.object("chat_template_kwargs");
  if (!variables) return;
  for (const auto& [name, value] : variables->items()) {
    if (name == "messages" || name == "tools" || name == "add_generation_prompt") {
      return fields.invalid("chat_template_kwargs." + name, "must be sent as a field of its own");
    }
    extra[name] = value;
  }
}

std::optional<size_t> read_logprobs(Fields& fields) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const auto num_top = fields.integer("top_logprobs", {.min = 0, .max = 20});
  if (wanted) return static_cast<size_t>(num_top.value_or(0));
  if (num_top.value_or(0) > 0) fields.invalid("top_logprobs", "needs logprobs to be true");
  return std::nullopt;
}

bool read_continuation(Fields& fields, const chat::Conversation& conversation) {
  if (!fields.boolean("continue_final_message").value_or(false)) return false;
  if (conversation.add_generation_prompt && fields.has("add_generation_prompt")) {
    fields.invalid("continue_final_message", "and add_generation_prompt must not both be true");
  }
  const Json& messages = conversation.messages;
  if (messages.empty() ||
      Fields(messages.back()).string("role", kNameBytes).value_or("") != "assistant" ||
      !Fields(messages.back()).string("content", SIZE_MAX)) {
    fields.invalid("continue_final_message", "needs a last message of the assistant with text");
  }
  return true;
}

std::string_view without_spaces(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

chat::Conversation read_conversation(Fields& fields, const chat::ChatTemplate& chat_template) {
  chat::Conversation out;
  out.messages = read_messages(fields, chat_template);
  read_tools(fields, chat_template, out.tools);
  read_tool_choice(fields, out.tools);
  Json extra = Json::object();
  read_thinking(fields, extra);
  read_template_variables(fields, extra);
  out.extra = std::move(extra);
  out.add_generation_prompt = fields.boolean("add_generation_prompt").value_or(true);
  return out;
}

std::expected<ChatRequest, ApiError> parse_chat_request(const Json& body,
                                                        const chat::ChatTemplate& chat_template,
                                                        size_t vocab_size) {
  Fields fields(body);
  ChatRequest out;
  fields.string("model", 1024);
  out.conversation = read_conversation(fields, chat_template);
  out.continue_final_message = read_continuation(fields, out.conversation);
  out.generation = read_generation_fields(fields, vocab_size);
  if (out.generation.max_tokens == size_t{0}) fields.invalid("max_tokens", "must be at least 1");
  out.num_top_logprobs = read_logprobs(fields);
  out.return_progress = fields.boolean("return_progress").value_or(false);
  read_response_format(fields);
  if (fields.error()) return std::unexpected(*fields.error());
  return out;
}

std::expected<std::string, ApiError> render_prompt(const chat::Conversation& conversation,
                                                   bool continue_final_message,
                                                   const chat::ChatTemplate& chat_template) {
  if (!continue_final_message) {
    auto prompt = chat_template.render(conversation);
    if (!prompt) return std::unexpected(to_api_error(prompt.error()));
    return *std::move(prompt);
  }
  chat::Conversation open = conversation;
  open.add_generation_prompt = false;
  auto prompt = chat_template.render(open);
  if (!prompt) return std::unexpected(to_api_error(prompt.error()));
  const std::string_view last =
      without_spaces(conversation.messages.back()["content"].get_ref<const std::string&>());
  const size_t found = prompt->rfind(last);
  if (found == std::string::npos) {
    return std::unexpected(
        not_supported("continue_final_message",
                      "continue_final_message: the chat template changes the last message"));
  }
  prompt->resize(found + last.size());
  return *std::move(prompt);
}

}  // namespace evener::serve
