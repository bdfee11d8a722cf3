#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "chat/jinja/budget.h"

namespace evener::chat::jinja {

// A text that grows within a budget.
class TextSink {
 public:
  // Escapes grow a text up to sixfold: who writes them appends pieces of about this size, each of
  // which can be refused.
  static constexpr size_t kPieceBytes = 4096;

  explicit TextSink(Budget& budget) : budget_(&budget) {}

  Status append(std::string_view piece) {
    RETURN_IF_ERROR(budget_->check_string(text_.size() + piece.size()));
    RETURN_IF_ERROR(budget_->bytes_work(piece.size()));
    text_ += piece;
    return {};
  }

  Budget& budget() { return *budget_; }
  std::string take() { return std::move(text_); }

 private:
  Budget* budget_;
  std::string text_;
};

}  // namespace evener::chat::jinja
