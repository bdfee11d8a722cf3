#include "bench/client/sse_parser.h"

#include <algorithm>

namespace evener::bench {

SseParser::Outcome SseParser::feed(std::string_view piece, OnEvent on_event) {
  while (!piece.empty()) {
    if (after_cr_ && piece[0] == '\n') piece.remove_prefix(1);
    after_cr_ = false;
    const size_t end = std::min(piece.find_first_of("\r\n"), piece.size());
    if (line_.size() + data_.size() + end > kEventBytesMax) return Outcome::too_large;
    if (end == piece.size()) {
      line_ += piece;
      return Outcome::more;
    }
    std::string_view line = piece.substr(0, end);
    if (!line_.empty()) line = line_ += line;
    after_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    const bool goes_on = take_line(line, on_event);
    line_.clear();
    if (!goes_on) return Outcome::stopped;
  }
  return Outcome::more;
}

SseParser::Outcome SseParser::end(OnEvent on_event) {
  if (!line_.empty()) take_field(line_);
  line_.clear();
  return dispatch(on_event) ? Outcome::more : Outcome::stopped;
}

bool SseParser::take_line(std::string_view line, OnEvent on_event) {
  if (first_line_ && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  first_line_ = false;
  if (line.empty()) return dispatch(on_event);
  take_field(line);
  return true;
}

void SseParser::take_field(std::string_view line) {
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);  // empty: a comment
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "event") type_ = value;
  if (name != "data") return;
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

bool SseParser::dispatch(OnEvent on_event) {
  const bool goes_on = !has_data_ || on_event({.type = type_, .data = data_});
  data_.clear();
  type_.clear();
  has_data_ = false;
  return goes_on;
}

}  // namespace evener::bench
