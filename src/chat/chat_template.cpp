#include "chat/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chat/adapt.h"
#include "chat/family_templates.h"
#include "chat/jinja/from_json.h"
#include "chat/jinja/globals.h"
#include "chat/jinja/interpreter.h"
#include "chat/jinja/parser.h"
#include "chat/probe.h"

namespace evener::chat {

struct ChatTemplate::Parsed {
  std::string source;
  SpecialTexts special;
  TemplateLimits limits;
  std::unique_ptr<const jinja::ast::Tree> tree;
  TemplateCapabilities capabilities;
};

namespace {

using jinja::Budget;
using jinja::Scope;
using jinja::Value;
using Json = nlohmann::ordered_json;

Error bad_conversation(std::string where, std::string why) {
  return {.code = Code::invalid_argument,
          .doing = "apply the chat template",
          .where = std::move(where),
          .why = std::move(why),
          .remedy = ""};
}

Status check(const Conversation& conversation) {
  if (!conversation.messages.is_array()) return bad_conversation("messages", "is not an array");
  for (size_t i = 0; i < conversation.messages.size(); ++i) {
    if (conversation.messages[i].is_object()) continue;
    return bad_conversation(fmt::format("messages[{}]", i), "is not an object");
  }
  if (!conversation.tools.is_null() && !conversation.tools.is_array()) {
    return bad_conversation("tools", "is not an array");
  }
  if (!conversation.extra.is_null() && !conversation.extra.is_object()) {
    return bad_conversation("chat_template_kwargs", "is not an object");
  }
  for (const char* name : {"messages", "tools", "add_generation_prompt"}) {
    if (conversation.extra.is_object() && conversation.extra.contains(name)) {
      return bad_conversation(fmt::format("chat_template_kwargs.{}", name),
                              "has a field of its own in the request");
    }
  }
  return {};
}

Status set_json(Budget& budget, Scope& scope, std::string_view name, const Json& json) {
  ASSIGN_OR_RETURN(Value value, jinja::from_json(budget, json));
  scope.set(name, std::move(value));
  return {};
}

// bos_token and eos_token always exist, so that joining them to a text works without one.
void set_special(Scope& scope, const SpecialTexts& special) {
  scope.set("bos_token", Value::constant(special.bos));
  scope.set("eos_token", Value::constant(special.eos));
  if (!special.pad.empty()) scope.set("pad_token", Value::constant(special.pad));
  if (!special.unk.empty()) scope.set("unk_token", Value::constant(special.unk));
  for (const auto& [name, text] : special.named) scope.set(name, Value::constant(text));
}

Status set_variables(Budget& budget, Scope& scope, const Conversation& conversation) {
  scope.set("documents", Value::none());
  RETURN_IF_ERROR(set_json(budget, scope, "messages", conversation.messages));
  RETURN_IF_ERROR(set_json(budget, scope, "tools", conversation.tools));
  scope.set("add_generation_prompt", Value::boolean(conversation.add_generation_prompt));
  if (!conversation.extra.is_object()) return {};
  RETURN_IF_ERROR(budget.check_elements(conversation.extra.size()));
  for (auto entry = conversation.extra.begin(); entry != conversation.extra.end(); ++entry) {
    RETURN_IF_ERROR(set_json(budget, scope, entry.key(), entry.value()));
  }
  return {};
}

std::chrono::sys_seconds time_of(const Conversation& conversation) {
  if (conversation.now) return *conversation.now;
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

Result<std::string> render_tree(const jinja::ast::Tree& tree, const SpecialTexts& special,
                                const TemplateLimits& limits, const Conversation& conversation) {
  RETURN_IF_ERROR(check(conversation));
  Budget budget(limits);
  jinja::Context context{.budget = budget, .now = time_of(conversation), .namespaces = {}};
  const auto scope = std::make_shared<Scope>(nullptr);
  jinja::set_globals(*scope);
  set_special(*scope, special);
  RETURN_IF_ERROR(set_variables(budget, *scope, conversation));
  return jinja::Interpreter(context, scope).render(tree);
}

// Probing renders a dozen small conversations: a template that needs more than this for one of them
// does not have the capability.
TemplateLimits probe_limits(TemplateLimits limits) {
  limits.num_steps = std::min<uint64_t>(limits.num_steps, 200'000);
  limits.memory_bytes = std::min(limits.memory_bytes, size_t{16} << 20);
  limits.string_bytes = std::min(limits.string_bytes, size_t{1} << 20);
  limits.num_elements = std::min(limits.num_elements, size_t{1} << 14);
  return limits;
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<const Parsed> parsed) : parsed_(std::move(parsed)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string source, SpecialTexts special,
                                         TemplateLimits limits) {
  ASSIGN_OR_RETURN(auto tree, jinja::parse(source, limits));
  auto parsed = std::make_unique<Parsed>();
  const TemplateLimits small = probe_limits(limits);
  parsed->capabilities = probe([&](const Conversation& conversation) {
    return render_tree(*tree, special, small, conversation);
  });
  parsed->source = std::move(source);
  parsed->special = std::move(special);
  parsed->limits = limits;
  parsed->tree = std::move(tree);
  return ChatTemplate(std::move(parsed));
}

Result<std::string> ChatTemplate::render(const Conversation& conversation) const {
  return render_as_given(adapt(conversation, parsed_->capabilities));
}

Result<std::string> ChatTemplate::render_as_given(const Conversation& conversation) const {
  return render_tree(*parsed_->tree, parsed_->special, parsed_->limits, conversation);
}

const TemplateCapabilities& ChatTemplate::capabilities() const { return parsed_->capabilities; }
const std::string& ChatTemplate::source() const { return parsed_->source; }

Result<ChatTemplate> template_for(const std::optional<std::string>& gguf_template,
                                  std::string_view family, SpecialTexts special) {
  const bool has_own = gguf_template && !gguf_template->empty();
  return ChatTemplate::parse(has_own ? *gguf_template : std::string(family_template(family)),
                             std::move(special));
}

}  // namespace evener::chat
