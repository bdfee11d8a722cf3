#pragma once

#include <span>
#include <string_view>

#include "base/json.h"
#include "bench/experiments/quality/judgement.h"

namespace evener::bench {

// A question for which one of the tools is to be called, or none.
struct ToolTask {
  const char* label;
  const char* question;
  const char* tool;       // empty: none
  const char* arguments;  // that must be given, by JSON pointer
};

std::span<const ToolTask> tool_tasks();
json::Value tools();  // as the field "tools" of a request

// `tool_calls` as in RequestRecord. Right: one call, of the right tool, with arguments that follow
// its parameters and hold what the question says; or none, where none is due.
Judgement judge(const ToolTask& task, std::string_view tool_calls);

}  // namespace evener::bench
