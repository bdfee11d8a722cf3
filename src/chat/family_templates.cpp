#include "chat/family_templates.h"

#include <utility>

namespace evener::chat {
namespace {

// <|im_start|>role ... <|im_end|>
constexpr std::string_view kChatMl = R"({%- for message in messages %}
{{- '<|im_start|>' ~ message.role ~ '\n' ~ (message.content or '') ~ '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %})";

// <|start_header_id|>role<|end_header_id|> ... <|eot_id|>
constexpr std::string_view kLlama3 = R"({{- bos_token }}
{%- for message in messages %}
{{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\n\n' }}
{{- (message.content or '') | trim ~ '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{%- endif %})";

// [INST] user [/INST] assistant; the system message stands inside the first user turn.
constexpr std::string_view kLlama2 = R"({%- set ns = namespace(system='') %}
{%- for message in messages %}
{%- if message.role == 'system' %}
{%- set ns.system = '<<SYS>>\n' ~ message.content ~ '\n<</SYS>>\n\n' %}
{%- elif message.role == 'assistant' %}
{{- ' ' ~ (message.content or '') | trim ~ ' ' ~ eos_token }}
{%- else %}
{{- bos_token ~ '[INST] ' ~ ns.system ~ (message.content or '') | trim ~ ' [/INST]' }}
{%- set ns.system = '' %}
{%- endif %}
{%- endfor %})";

// <start_of_turn>user|model ... <end_of_turn>; there is no system role.
constexpr std::string_view kGemma = R"({{- bos_token }}
{%- set ns = namespace(system='') %}
{%- for message in messages %}
{%- if message.role == 'system' %}
{%- set ns.system = message.content ~ '\n\n' %}
{%- else %}
{{- '<start_of_turn>' ~ ('model' if message.role == 'assistant' else 'user') ~ '\n' }}
{{- ns.system ~ (message.content or '') | trim ~ '<end_of_turn>\n' }}
{%- set ns.system = '' %}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<start_of_turn>model\n' }}{%- endif %})";

// By the beginning of the family's name; the first match counts.
constexpr std::pair<std::string_view, std::string_view> kTemplates[] = {
    {"llama-bpe", kLlama3}, {"llama3", kLlama3},  {"llama", kLlama2},
    {"mistral", kLlama2},   {"mixtral", kLlama2}, {"gemma", kGemma},
};

}  // namespace

std::string_view family_template(std::string_view family) {
  for (const auto& [prefix, source] : kTemplates) {
    if (family.starts_with(prefix)) return source;
  }
  return kChatMl;
}

}  // namespace evener::chat
