#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "chat/conversation.h"
#include "chat/special_texts.h"
#include "chat/template_limits.h"

namespace evener::chat {

// What a template does with a conversation. Found by rendering small conversations and comparing,
// so it is what the template does and not what its text looks like.
struct TemplateCapabilities {
  bool tools = false;            // tool definitions reach the prompt
  bool tool_calls = false;       // an assistant's tool_calls reach the prompt
  bool tool_results = false;     // messages of role "tool" reach the prompt
  bool system_role = false;      // a system message reaches the prompt
  bool enable_thinking = false;  // the variable enable_thinking changes the prompt
  bool reasoning_kept = false;   // reasoning_content of the last assistant turn reaches the prompt
  bool content_parts = false;    // content may be a list of {"type": "text", "text": ...}
  // The prompt for the assistant's turn ends inside an opened <think>: the answer begins with
  // reasoning, and only </think> will come. With enable_thinking unset and with false.
  bool opens_thinking = false;
  bool opens_thinking_when_disabled = false;
};

// A model's chat template: messages -> prompt text.
//
// Templates are written in Jinja, which is a programming language; this one runs in a sandbox of
// its own without files, network or clock (see Conversation::now) and with the budgets of
// TemplateLimits. Semantics are those of Jinja 3 as Hugging Face sets it up: trim_blocks and
// lstrip_blocks on, loop controls, tojson that keeps key order and non-ASCII text, raise_exception,
// strftime_now, {% generation %}. docs: see tests/peer/chat_peer.mjs, which holds it against
// @huggingface/jinja on real templates.
//
// Threads: immutable after parse(); render() may be called from any number of threads at once.
class ChatTemplate {
 public:
  // Errors: corrupt (syntax, with line), unsupported (syntax we lack, with line), limit_exceeded.
  static Result<ChatTemplate> parse(std::string source, SpecialTexts special,
                                    TemplateLimits limits = {});

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // The prompt. It holds the template's own bos text if it writes one: tokenize with special tokens
  // recognised and without adding another bos when the prompt already begins with it.
  //
  // Errors, all with the template's line: invalid_argument when the template refuses the
  // conversation (raise_exception(message): `why` is that message, word for word) or when the
  // conversation's shape makes an operation impossible; unsupported for a filter, test or method
  // that does not exist here; limit_exceeded for budgets.
  Result<std::string> render(const Conversation& conversation) const;

  const TemplateCapabilities& capabilities() const;
  const std::string& source() const;

 private:
  struct Parsed;
  explicit ChatTemplate(std::unique_ptr<const Parsed> parsed);

  std::unique_ptr<const Parsed> parsed_;
};

// The template of a model file: its own (GGUF tokenizer.chat_template) when it has one, else one of
// ours for the family.
//
//   family   GGUF general.architecture ("qwen3", "llama", "gemma3"), or a tokenizer's pre name
//            ("llama-bpe"). Unknown ones get ChatML.
Result<ChatTemplate> template_for(const std::optional<std::string>& gguf_template,
                                  std::string_view family, SpecialTexts special);

}  // namespace evener::chat
