#include "serve/openai_completions.h"

#include <memory>
#include <utility>

#include "serve/completion_answer.h"
#include "serve/completion_request.h"
#include "serve/generation_job.h"
#include "serve/json.h"
#include "serve/message_ends.h"

namespace evener::serve {
namespace {

// Clients that render chat templates themselves come here too: so messages are looked for.
std::vector<engine::GenerationRequest> sequences_of(const CompletionRequest& request,
                                                    const RouteCall& call) {
  const Origin origin = call.origin(request.generation);
  std::vector<engine::GenerationRequest> out;
  for (const auto& prompt : request.prompts) {
    const std::vector<size_t> ends = message_ends(prompt, *call.service->generator);
    for (size_t i = 0; i < request.generation.num_choices; ++i) {
      out.push_back(to_generation_request(request.generation, prompt, i, origin));
      out.back().message_ends = ends;
      out.back().num_top_logprobs = request.num_top_logprobs;
      out.back().prompt_logprobs = request.echo && request.num_top_logprobs;
      // Scores of the prompt need one step; the token that it makes is dropped by the writer.
      if (request.prompt_only) out.back().max_new_tokens = 1;
    }
  }
  return out;
}

}  // namespace

void answer_completions(const RouteCall& call) {
  const auto body = parse_object(call.exchange->request().body);
  if (!body) return call.fail(body.error());
  auto request = parse_completion_request(*body, *call.service->generator);
  if (!request) return call.fail(request.error());
  auto sequences = sequences_of(*request, call);
  auto writer = std::make_unique<CompletionAnswer>(call.exchange, call.service->model_id,
                                                   *std::move(request));
  GenerationJob::start(
      {.call = call, .requests = std::move(sequences), .writer = std::move(writer)});
}

}  // namespace evener::serve
