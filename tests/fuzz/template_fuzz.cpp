// Any bytes as a chat template, rendered with a conversation that has one of everything. Neither
// may crash, hang or grow beyond its budget.

#include <cstddef>
#include <cstdint>
#include <string>

#include "chat/chat_template.h"

namespace {

evener::chat::Conversation conversation() {
  evener::chat::Conversation result;
  result.messages = nlohmann::ordered_json::parse(R"([
      {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi é中"},
      {"role": "assistant", "content": "", "reasoning_content": "why", "tool_calls": [
          {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": [1, 2.5, null]}}}]},
      {"role": "tool", "tool_call_id": "1", "content": "ok"}])");
  result.tools = nlohmann::ordered_json::parse(
      R"([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])");
  result.now = std::chrono::sys_seconds(std::chrono::seconds(1772723049));
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const evener::chat::Conversation kConversation = conversation();
  evener::chat::TemplateLimits limits;
  limits.source_bytes = size_t{1} << 16;
  limits.num_steps = 20'000;
  limits.memory_bytes = size_t{8} << 20;
  limits.string_bytes = size_t{1} << 20;
  limits.num_elements = size_t{1} << 12;
  const std::string source(reinterpret_cast<const char*>(data), size);
  const auto parsed = evener::chat::ChatTemplate::parse(source, {}, limits);
  if (parsed) (void)parsed->render(kConversation).has_value();
  return 0;
}
