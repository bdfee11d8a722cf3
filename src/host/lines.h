#pragma once

#include <algorithm>
#include <string_view>

namespace evener::host {

// Calls `take` with each line of `text`, without its end.
template <class Take>
void for_each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

inline std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

}  // namespace evener::host
