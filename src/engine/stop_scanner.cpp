#include "engine/stop_scanner.h"

#include <algorithm>
#include <utility>

namespace evener::engine {

StopScanner::StopScanner(std::vector<std::string> stops) : stops_(std::move(stops)) {}

StopScanner::Result StopScanner::push(std::string_view text) {
  held_ += text;
  size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, held_.find(stop));
  const bool stopped = first != std::string::npos;
  const size_t num_out = stopped ? first : held_.size() - num_held();
  Result result{.text = held_.substr(0, num_out), .stopped = stopped};
  held_.erase(0, stopped ? std::string::npos : num_out);
  return result;
}

// Length of the longest end of the text that begins some stop text.
size_t StopScanner::num_held() const {
  size_t longest = 0;
  for (const std::string& stop : stops_) {
    for (size_t size = std::min(stop.size() - 1, held_.size()); size > longest; --size) {
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, size))) longest = size;
    }
  }
  return longest;
}

std::string StopScanner::finish() { return std::exchange(held_, {}); }

}  // namespace evener::engine
