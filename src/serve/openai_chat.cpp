#include "serve/openai_chat.h"

#include <memory>
#include <string_view>
#include <utility>

#include "serve/chat_request.h"
#include "serve/chat_stream.h"
#include "serve/chat_whole.h"
#include "serve/generation_job.h"
#include "serve/json.h"
#include "serve/message_ends.h"
#include "serve/random.h"
#include "serve/unix_seconds.h"

namespace evener::serve {
namespace {

bool ends_with_opened_think(std::string_view prompt) {
  const size_t end = prompt.find_last_not_of(" \t\r\n");
  return end != std::string_view::npos && prompt.substr(0, end + 1).ends_with("<think>");
}

// Models that never think may still write about <think>: their text is left alone.
chat::OutputParserOptions parser_options(const chat::TemplateCapabilities& can,
                                         std::string_view prompt) {
  const bool opened = ends_with_opened_think(prompt);
  const bool thinks = opened || can.enable_thinking || can.opens_thinking || can.reasoning;
  return {.format = thinks ? chat::OutputFormat::think : chat::OutputFormat::plain,
          .starts_in_reasoning = opened};
}

std::unique_ptr<AnswerWriter> make_writer(const ExchangePtr& exchange, ChatAnswerHead head) {
  if (head.fields.stream) return std::make_unique<ChatStream>(exchange, std::move(head));
  return std::make_unique<ChatWhole>(exchange, std::move(head));
}

void generate(const RouteCall& call, ChatRequest request, const std::string& prompt_text) {
  const std::vector<TokenId> prompt =
      call.service->generator->tokenize(prompt_text, {.add_bos = true, .parse_special = true});
  if (prompt.empty()) return call.fail(invalid_value("messages", "messages make an empty prompt"));

  const Origin origin = call.origin(request.generation);
  const std::vector<size_t> ends = message_ends(prompt, *call.service->generator);
  std::vector<engine::GenerationRequest> sequences;
  for (size_t i = 0; i < request.generation.num_choices; ++i) {
    sequences.push_back(to_generation_request(request.generation, prompt, i, origin));
    sequences.back().message_ends = ends;
    sequences.back().num_top_logprobs = request.num_top_logprobs;
  }
  ChatAnswerHead head{
      .id = random_id("chatcmpl-"),
      .model = call.service->model_id,
      .created_seconds = unix_seconds(),
      .fields = std::move(request.generation),
      .logprobs = request.num_top_logprobs.has_value(),
      .progress = request.return_progress,
      .parser = parser_options(call.service->chat_template.capabilities(), prompt_text),
      .prompt = {}};
  if (head.fields.return_token_ids) head.prompt = prompt;
  auto writer = make_writer(call.exchange, std::move(head));
  GenerationJob::start(
      {.call = call, .requests = std::move(sequences), .writer = std::move(writer)});
}

}  // namespace

void answer_chat(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  auto request = parse_chat_request(*body, call.service->chat_template,
                                    call.service->generator->facts().vocab_size);
  if (!request) return call.fail(request.error());
  const auto prompt = render_prompt(request->conversation, request->continue_final_message,
                                    call.service->chat_template);
  if (!prompt) return call.fail(prompt.error());
  generate(call, *std::move(request), *prompt);
}

}  // namespace evener::serve
