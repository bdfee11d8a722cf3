#pragma once

#include <fmt/format.h>

#include <string_view>

namespace evener::log {

enum class Level { debug, info, warning, error };

// Lines below `level` are dropped. Safe from any thread.
void set_level(Level level);

// One line on stderr with time and level. Safe from any thread. Control characters in `text` are
// escaped, so that nothing from a file or a request can move the cursor or fake a line.
void write(Level level, std::string_view text);

template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::debug, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::info, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::warning, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace evener::log
