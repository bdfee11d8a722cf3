#include "bench/experiments/quality/tool_tasks.h"

#include <fmt/format.h>

#include <array>

#include "base/assert.h"
#include "base/text.h"
#include "bench/experiments/quality/schema.h"

namespace evener::bench {
namespace {

constexpr const char* kTools = R"([
  {"type":"function","function":{"name":"get_tide","description":"Water level at a harbour",
    "parameters":{"type":"object","additionalProperties":false,"required":["harbour","hour"],
    "properties":{"harbour":{"type":"string"},
    "hour":{"type":"integer","minimum":0,"maximum":23}}}}},
  {"type":"function","function":{"name":"set_lamp","description":"Switch a lamp of the house",
    "parameters":{"type":"object","additionalProperties":false,"required":["room","on"],
    "properties":{"room":{"type":"string","enum":["kitchen","cellar","hall"]},
    "on":{"type":"boolean"},"brightness":{"type":"integer","minimum":0,"maximum":100}}}}},
  {"type":"function","function":{"name":"add_entries","description":"Write amounts into a ledger",
    "parameters":{"type":"object","additionalProperties":false,"required":["account","amounts"],
    "properties":{"account":{"type":"string"},
    "amounts":{"type":"array","items":{"type":"number"}}}}}}
])";

constexpr std::array kTasks = {
    ToolTask{.label = "two arguments",
             .question = "How high is the water at the harbour of Ostwick at 7 in the morning?",
             .tool = "get_tide",
             .arguments = R"({"/harbour":"Ostwick","/hour":7})"},
    ToolTask{.label = "enum and boolean",
             .question = "Please switch the lamp in the cellar off.",
             .tool = "set_lamp",
             .arguments = R"({"/room":"cellar","/on":false})"},
    ToolTask{.label = "optional argument",
             .question = "Light in the hall, please, at 35 percent.",
             .tool = "set_lamp",
             .arguments = R"({"/room":"hall","/on":true,"/brightness":35})"},
    ToolTask{.label = "list",
             .question = "Write 12.5, 40 and 3.75 into the account travel.",
             .tool = "add_entries",
             .arguments = R"({"/account":"travel","/amounts":[12.5,40,3.75]})"},
    ToolTask{.label = "none is due",
             .question = "Just say hello, without using any tool.",
             .tool = "",
             .arguments = "{}"},
};

json::Value parsed(const char* text) {
  auto value = json::parse(text, "task");
  EVENER_ASSERT(value.has_value());
  return *std::move(value);
}

json::Value parameters_of(std::string_view name) {
  for (const json::Value& tool : tools()) {
    if (tool["function"]["name"] == name) return tool["function"]["parameters"];
  }
  return json::Value::object();
}

}  // namespace

std::span<const ToolTask> tool_tasks() { return kTasks; }

json::Value tools() { return parsed(kTools); }

Judgement judge(const ToolTask& task, std::string_view tool_calls) {
  const std::string_view wanted = task.tool;
  if (tool_calls.empty())
    return wanted.empty() ? Judgement::right() : Judgement::wrong("no tool was called");
  const auto calls = json::parse(tool_calls, "the tool calls");
  if (!calls || !calls->is_array()) return Judgement::wrong("the calls are no list");
  if (wanted.empty())
    return calls->empty() ? Judgement::right() : Judgement::wrong("a tool was called");
  if (calls->size() != 1)
    return Judgement::wrong(fmt::format("{} tools were called, not 1", calls->size()));

  const json::Value& call = calls->front();
  const json::Value::json_pointer name_at("/function/name");
  const json::Value::json_pointer arguments_at("/function/arguments");
  if (!call.contains(name_at) || !call[name_at].is_string())
    return Judgement::wrong("the call has no name");
  const std::string name = call[name_at].get<std::string>();
  if (name != wanted)
    return Judgement::wrong(fmt::format("{} was called, not {}", printable(name, 60), wanted));
  if (!call.contains(arguments_at) || !call[arguments_at].is_string())
    return Judgement::wrong("the call has no arguments");
  const auto arguments = json::parse(call[arguments_at].get<std::string>(), "the arguments");
  if (!arguments)
    return Judgement::wrong(fmt::format("the arguments are no JSON: {}", arguments.error().why));
  if (const auto problem = breaks_schema(parameters_of(wanted), *arguments))
    return Judgement::wrong(*problem);
  if (const auto problem = lacks_values(parsed(task.arguments), *arguments))
    return Judgement::wrong(*problem);
  return Judgement::right();
}

}  // namespace evener::bench
