#include "chat/think_parser.h"

#include <algorithm>

namespace evener::chat {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kSpace = " \t\r\n";

// Length of the longest end of `text` that is a beginning of `mark`, but not all of it.
size_t partial_mark(std::string_view text, std::string_view mark) {
  for (size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size) {
    if (text.ends_with(mark.substr(0, size))) return size;
  }
  return 0;
}

size_t trailing_space(std::string_view text) {
  const size_t last = text.find_last_not_of(kSpace);
  return last == text.npos ? text.size() : text.size() - last - 1;
}

}  // namespace

ThinkParser::ThinkParser(bool starts_in_reasoning)
    : state_(starts_in_reasoning ? State::entering : State::before),
      opened_by_prompt_(starts_in_reasoning) {}

std::vector<OutputEvent> ThinkParser::push(std::string_view text) {
  waiting_ += text;
  std::vector<OutputEvent> events;
  while (advance(events)) {
  }
  return events;
}

// Whatever still waits can no longer become a mark.
std::vector<OutputEvent> ThinkParser::finish() {
  std::vector<OutputEvent> events;
  if (state_ == State::reasoning || state_ == State::entering) {
    waiting_.resize(waiting_.size() - trailing_space(waiting_));
    emit(events, OutputEvent::Kind::reasoning, waiting_.size());
  } else if (state_ != State::leaving) {
    emit(events, OutputEvent::Kind::content, waiting_.size());
  }
  waiting_.clear();
  return events;
}

// One step over what waits; false when more text is needed.
bool ThinkParser::advance(std::vector<OutputEvent>& events) {
  switch (state_) {
    case State::before:
      return advance_before();
    case State::entering:
      return skip_space(State::reasoning);
    case State::reasoning:
      return advance_reasoning(events);
    case State::leaving:
      return skip_space(State::content);
    case State::content:
      break;
  }
  emit(events, OutputEvent::Kind::content, waiting_.size());
  return false;
}

bool ThinkParser::advance_before() {
  const size_t begin = waiting_.find_first_not_of(kSpace);
  if (begin == waiting_.npos) return false;
  const std::string_view rest = std::string_view(waiting_).substr(begin);
  if (rest.starts_with(kOpen)) {
    waiting_.erase(0, begin + kOpen.size());
    state_ = State::entering;
    return true;
  }
  if (kOpen.starts_with(rest)) return false;
  state_ = State::content;
  return true;
}

bool ThinkParser::skip_space(State next) {
  waiting_.erase(0, waiting_.find_first_not_of(kSpace));
  if (waiting_.empty()) return false;
  if (state_ == State::entering && opened_by_prompt_) {
    // A model may open again what its prompt has opened.
    if (waiting_.size() < kOpen.size() && kOpen.starts_with(waiting_)) return false;
    if (waiting_.starts_with(kOpen)) {
      waiting_.erase(0, kOpen.size());
      opened_by_prompt_ = false;
      return true;
    }
  }
  state_ = next;
  return true;
}

bool ThinkParser::advance_reasoning(std::vector<OutputEvent>& events) {
  const size_t close = waiting_.find(kClose);
  if (close != waiting_.npos) {
    const std::string_view reasoning = std::string_view(waiting_).substr(0, close);
    emit(events, OutputEvent::Kind::reasoning, close - trailing_space(reasoning));
    waiting_.erase(0, waiting_.find(kClose) + kClose.size());
    state_ = State::leaving;
    return true;
  }
  // Whitespace in front of what may become </think> waits with it: it may be the last.
  const size_t held = partial_mark(waiting_, kClose);
  const std::string_view sure = std::string_view(waiting_).substr(0, waiting_.size() - held);
  emit(events, OutputEvent::Kind::reasoning, sure.size() - trailing_space(sure));
  return false;
}

void ThinkParser::emit(std::vector<OutputEvent>& events, OutputEvent::Kind kind, size_t num_bytes) {
  if (num_bytes == 0) return;
  events.push_back(
      {.kind = kind, .text = waiting_.substr(0, num_bytes), .tool_index = 0, .tool_name = {}});
  waiting_.erase(0, num_bytes);
}

}  // namespace evener::chat
