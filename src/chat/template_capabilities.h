#pragma once

namespace evener::chat {

// What a template does with a conversation. Found by rendering small conversations and comparing,
// so it is what the template does and not what its text looks like.
struct TemplateCapabilities {
  bool system_role = false;      // a system message reaches the prompt
  bool content_parts = false;    // content may be a list of {"type": "text", "text": ...}
  bool tools = false;            // tool definitions reach the prompt
  bool tool_calls = false;       // an assistant's tool_calls reach the prompt
  bool tool_results = false;     // messages of role "tool" reach the prompt
  bool reasoning = false;        // reasoning_content of the last assistant turn reaches the prompt
  bool enable_thinking = false;  // the variable enable_thinking changes the prompt

  // The prompt for the assistant's turn ends inside an opened <think>: the answer begins with
  // reasoning, and only </think> will come. With enable_thinking unset, and with it false.
  bool opens_thinking = false;
  bool opens_thinking_when_disabled = false;

  // How tool_calls must look; ChatTemplate::render() brings them into this shape.
  bool arguments_as_text = false;  // `arguments` is a string of JSON, not an object
  bool null_content = false;       // `content` is null beside tool_calls, not ""
};

}  // namespace evener::chat
