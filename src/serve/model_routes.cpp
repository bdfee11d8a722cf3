#include "serve/model_routes.h"

#include <string>

#include "base/version.h"
#include "serve/server_info.h"

namespace evener::serve {

Json model_entry(const Service& service) {
  const engine::ModelFacts& facts = service.generator->facts();
  return {
      {"id", service.model_id},
      {"object", "model"},
      {"created", service.created_seconds},
      {"owned_by", "evener"},
      {"root", facts.id},
      {"parent", nullptr},
      {"max_model_len", facts.admissible_tokens},
      {"context_length", facts.admissible_tokens},
      {"context_window", facts.admissible_tokens},
      {"max_output_tokens", facts.admissible_tokens},
      {"meta",
       {{"n_ctx", facts.admissible_tokens},
        {"n_ctx_train", facts.trained_context},
        {"hash", facts.hash},
        {"n_params", facts.num_parameters},
        {"n_vocab", facts.vocab_size},
        {"size", facts.file_bytes},
        {"name", facts.name},
        {"family", facts.family},
        {"quantisation", facts.quantisation},
        {"kv_type", facts.kv_type},
        {"context_limit", limit_name(facts.context_limit)},
        {"pool_tokens", facts.pool_tokens},
        {"device", facts.device}}},
      {"architecture",
       {{"input_modalities", Json::array({"text"})}, {"output_modalities", Json::array({"text"})}}},
      {"capabilities", Json::array({"completion", "chat"})},
      {"status", {{"value", "loaded"}}}};
}

Json model_list(const Service& service) {
  return {{"object", "list"}, {"data", Json::array({model_entry(service)})}};
}

Json props(const Service& service) {
  const engine::ModelFacts& facts = service.generator->facts();
  const chat::TemplateCapabilities& can = service.chat_template.capabilities();
  const sample::Params defaults;
  return {{"default_generation_settings",
           {{"n_ctx", facts.admissible_tokens},
            {"params",
             {{"temperature", defaults.temperature},
              {"top_k", defaults.top_k},
              {"top_p", defaults.top_p},
              {"min_p", defaults.min_p},
              {"typical_p", defaults.typical_p},
              {"repeat_penalty", defaults.repetition_penalty},
              {"presence_penalty", defaults.presence_penalty},
              {"frequency_penalty", defaults.frequency_penalty}}}}},
          {"total_slots", facts.max_sequences},
          {"model_alias", service.model_id},
          {"chat_template", service.chat_template.source()},
          {"chat_template_caps",
           {{"supports_tools", can.tools},
            {"supports_tool_calls", can.tool_calls},
            {"supports_system_role", can.system_role},
            {"supports_enable_thinking", can.enable_thinking},
            {"supports_content_parts", can.content_parts}}},
          {"modalities", {{"vision", false}, {"audio", false}}},
          {"build_info", std::string(kVersion) + "-" + std::string(kCommit)},
          {"is_sleeping", false}};
}

}  // namespace evener::serve
