#include "engine/request_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sample/params_check.h"

namespace evener::engine {
namespace {

Error refuse(std::string_view field, std::string why) {
  return Error{.code = Code::invalid_argument,
               .doing = "accept the request",
               .where = std::string(field),
               .why = std::move(why),
               .remedy = {}};
}

Status check_tokens(std::string_view field, std::span<const TokenId> tokens, size_t vocab_size) {
  for (const TokenId id : tokens) {
    if (id < 0 || static_cast<size_t>(id) >= vocab_size) {
      return refuse(field, fmt::format("token {} is not in the vocabulary of {}", id, vocab_size));
    }
  }
  return {};
}

Status check_count(std::string_view field, size_t count, size_t max) {
  if (count <= max) return {};
  return refuse(field, fmt::format("has {} entries, at most {} are allowed", count, max));
}

Status check_stops(const GenerationRequest& request) {
  RETURN_IF_ERROR(check_count("stop", request.stop.size(), kStopTextsMax));
  for (const std::string& stop : request.stop) {
    if (stop.empty()) return refuse("stop", "has an empty entry");
    if (stop.size() > kStopTextBytesMax) {
      return refuse("stop", fmt::format("has an entry of {} bytes, at most {} are allowed",
                                        stop.size(), kStopTextBytesMax));
    }
  }
  return {};
}

Status check_length(const GenerationRequest& request, size_t admissible_tokens) {
  if (request.prompt.empty()) return refuse("prompt", "is empty");
  if (request.prompt.size() < admissible_tokens) return {};
  return Error{.code = Code::context_overflow,
               .doing = "accept the request",
               .where = "prompt",
               .why = fmt::format("This model's maximum context length is {} tokens. However, your "
                                  "request has {} input tokens, which leaves no room for an "
                                  "answer. Please reduce the length of the messages.",
                                  admissible_tokens, request.prompt.size()),
               .remedy = {}};
}

Status check_message_ends(const GenerationRequest& request) {
  const std::vector<size_t>& ends = request.message_ends;
  const bool are_inside = ends.empty() || ends.back() <= request.prompt.size();
  if (are_inside && std::ranges::is_sorted(ends)) return {};
  return refuse("message_ends", "has to rise and to end within the prompt");
}

}  // namespace

Status check(const GenerationRequest& request, const RequestLimits& limits) {
  RETURN_IF_ERROR(check_length(request, limits.admissible_tokens));
  RETURN_IF_ERROR(check_tokens("prompt", request.prompt, limits.vocab_size));
  RETURN_IF_ERROR(sample::check(request.sampling, limits.vocab_size));
  RETURN_IF_ERROR(check_stops(request));
  RETURN_IF_ERROR(check_message_ends(request));
  RETURN_IF_ERROR(check_count("stop_token_ids", request.stop_token_ids.size(), kStopTokensMax));
  RETURN_IF_ERROR(check_tokens("stop_token_ids", request.stop_token_ids, limits.vocab_size));
  if (request.num_top_logprobs.value_or(0) > kTopLogprobsMax) {
    return refuse("top_logprobs", fmt::format("must be at most {}", kTopLogprobsMax));
  }
  return {};
}

}  // namespace evener::engine
