#include "engine/stop_scanner.h"

#include <algorithm>
#include <utility>

namespace evener::engine {

StopScanner::Matcher::Matcher(std::string stop_text)
    : stop(std::move(stop_text)), fallback(stop.size() + 1, 0) {
  for (size_t n = 1; n < stop.size(); ++n) {
    advance(stop[n]);  // the text matched against itself, one byte behind
    fallback[n + 1] = matched;
  }
  matched = 0;
}

void StopScanner::Matcher::advance(char byte) {
  while (matched > 0 && stop[matched] != byte) matched = fallback[matched];
  if (stop[matched] == byte) ++matched;
}

StopScanner::StopScanner(std::vector<std::string> stops) {
  for (std::string& stop : stops) matchers_.emplace_back(std::move(stop));
}

StopScanner::Result StopScanner::push(std::string_view text) {
  size_t num_held = 0;
  for (const char byte : text) {
    held_ += byte;
    size_t longest = 0;
    num_held = 0;
    for (Matcher& matcher : matchers_) {
      matcher.advance(byte);
      num_held = std::max(num_held, matcher.matched);
      if (matcher.complete()) longest = std::max(longest, matcher.matched);
    }
    if (longest == 0) continue;
    held_.resize(held_.size() - longest);
    return {.text = std::exchange(held_, {}), .stopped = true};
  }
  if (text.empty()) return {};
  Result result{.text = held_.substr(0, held_.size() - num_held), .stopped = false};
  held_.erase(0, result.text.size());
  return result;
}

std::string StopScanner::finish() { return std::exchange(held_, {}); }

}  // namespace evener::engine
