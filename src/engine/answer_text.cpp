#include "engine/answer_text.h"

namespace evener::engine {

AnswerText::AnswerText(const tokenizer::Tokenizer& tokenizer, const GenerationRequest& request)
    : detokenizer_(tokenizer, {.skip_special = request.skip_special_tokens}),
      scanner_(request.stop),
      num_unscanned_(request.min_new_tokens) {}

StopScanner::Result AnswerText::push(TokenId id) {
  std::string text = detokenizer_.push(id);
  if (num_unscanned_ == 0) return scanner_.push(text);
  --num_unscanned_;
  return {.text = std::move(text), .stopped = false};
}

std::string AnswerText::finish() {
  // The half character that the detokenizer still has may complete a stop text; it is U+FFFD then,
  // and nobody stops at that.
  return scanner_.finish() + detokenizer_.finish();
}

}  // namespace evener::engine
