#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "chat/conversation.h"
#include "chat/special_texts.h"
#include "chat/template_capabilities.h"
#include "chat/template_limits.h"

namespace evener::chat {

// A model's chat template: messages -> prompt text.
//
// Templates are written in Jinja, which is a programming language; this one runs in a sandbox of
// its own without files, network or clock (see Conversation::now) and within the budgets of
// TemplateLimits. It follows Jinja 3 as Hugging Face sets it up: trim_blocks and lstrip_blocks on,
// loop controls, tojson that keeps key order and non-ASCII text, raise_exception, strftime_now,
// {% generation %}; values never change, so list.append() and its like are refused.
//
// Threads: immutable after parse(); render() may be called from any number of threads at once.
// Judge: tests/peer/chat_peer.mjs, against @huggingface/jinja on real templates.
class ChatTemplate {
 public:
  // Errors: corrupt (syntax, with line), unsupported (syntax we lack, with line), limit_exceeded.
  static Result<ChatTemplate> parse(std::string source, SpecialTexts special,
                                    TemplateLimits limits = {});

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // The prompt. It holds the template's own bos text if it writes one: tokenize with special tokens
  // recognised, and add no other bos when the prompt already begins with it.
  //
  // A conversation as OpenAI clients send it is first brought into the shape that this template
  // reads: `arguments` of tool calls from text to object or back, null content beside them, lists
  // of text parts joined when the template only knows strings.
  //
  // Errors, all with the template's line: invalid_argument when the template refuses the
  // conversation (raise_exception(message): `why` is that message, word for word) or when the
  // conversation's shape makes an operation impossible; unsupported for a filter, test or method
  // that does not exist here; limit_exceeded for budgets.
  Result<std::string> render(const Conversation& conversation) const;

  // The same without changing the conversation's shape first.
  Result<std::string> render_as_given(const Conversation& conversation) const;

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
//   family   GGUF general.architecture ("qwen3", "llama", "gemma3") or a tokenizer's pre name
//            ("llama-bpe"): see family_templates.cpp. Unknown ones get ChatML.
Result<ChatTemplate> template_for(const std::optional<std::string>& gguf_template,
                                  std::string_view family, SpecialTexts special);

}  // namespace evener::chat
