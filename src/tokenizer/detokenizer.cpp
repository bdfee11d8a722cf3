#include "tokenizer/detokenizer.h"

#include <utility>

#include "base/utf8.h"

namespace evener::tokenizer {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, DetokenizerOptions options)
    : tokenizer_(&tokenizer), options_(options), at_text_start_(options.at_text_start) {}

std::string Detokenizer::push(TokenId id) {
  const DecodeOptions decode = {.skip_special = options_.skip_special};
  if (at_text_start_) {
    pending_ += tokenizer_->decode({&id, 1}, decode);
    at_text_start_ = tokenizer_->bos() == id;
  } else if (!options_.skip_special || !tokenizer_->is_special(id)) {
    pending_ += tokenizer_->piece(id);
  }
  const size_t complete = utf8::complete_prefix(pending_);
  std::string text = utf8::replace_invalid(std::string_view(pending_).substr(0, complete));
  pending_.erase(0, complete);
  return text;
}

std::string Detokenizer::finish() {
  at_text_start_ = options_.at_text_start;
  return utf8::replace_invalid(std::exchange(pending_, {}));
}

}  // namespace evener::tokenizer
