#include "bench/client/tool_calls.h"

#include "bench/client/fields.h"

namespace evener::bench {

bool ToolCalls::add(const json::Value& piece, uint64_t fallback_index, std::string& text) {
  if (!piece.is_object()) return false;
  const uint64_t index = find_uint(piece, "index").value_or(fallback_index);
  if (index >= kNumMax) return false;
  if (calls_.size() <= index) calls_.resize(index + 1);
  Call& call = calls_[index];
  if (const std::string* id = find_string(piece, "id"); id != nullptr && call.id.empty()) {
    call.id = *id;
  }
  const json::Value* function = find_object(piece, "function");
  if (function == nullptr) return true;
  if (const std::string* name = find_string(*function, "name")) {
    call.name += *name;
    text += *name;
  }
  if (const std::string* arguments = find_string(*function, "arguments")) {
    call.arguments += *arguments;
    text += *arguments;
  } else if (const json::Value* object = find_object(*function, "arguments")) {
    const std::string dumped = object->dump();  // Ollama's own way
    call.arguments += dumped;
    text += dumped;
  }
  return true;
}

std::string ToolCalls::to_json() const {
  json::Value out = json::Value::array();
  for (const Call& call : calls_) {
    out.push_back({{"id", call.id},
                   {"type", "function"},
                   {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return out.dump();
}

}  // namespace evener::bench
