#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/output_parser.h"

namespace evener::chat {

// Splits "<think> reasoning </think> content". Only the first thing of an answer can be reasoning:
// a <think> behind other words is content, and so is everything behind </think>. Whitespace around
// the marks belongs to neither part.
class ThinkParser final : public OutputParser {
 public:
  explicit ThinkParser(bool starts_in_reasoning);

  std::vector<OutputEvent> push(std::string_view text) override;
  std::vector<OutputEvent> finish() override;

 private:
  enum class State {
    before,    // nothing but whitespace or the beginning of <think> so far
    entering,  // behind <think>: whitespace is dropped
    reasoning,
    leaving,  // behind </think>: whitespace is dropped
    content,
  };

  bool advance(std::vector<OutputEvent>& events);
  bool advance_before();
  bool skip_space(State next);
  bool advance_reasoning(std::vector<OutputEvent>& events);
  void emit(std::vector<OutputEvent>& events, OutputEvent::Kind kind, size_t num_bytes);

  State state_;
  bool opened_by_prompt_;
  std::string waiting_;  // not yet sorted
};

}  // namespace evener::chat
